//go:build !noasm

#include "go_asm.h"
#include "textflag.h"

// The assembly of the loops in kernel.go. A lane is one register of four numbers; a row is
// four lanes, 32 bytes apart, one for each goal noise. Products and sums are separate
// instructions, so that they round as in Go. Lengths are checked by the callers and are
// not 0.
//
// Registers, where they are used:
//
//	SI       rows that are read: hidden weights, weights, a
//	DI       rows that are set: kept weights; or lanes that are read: b
//	R8       rows that are added to: To, Total
//	R9       lanes: Next
//	R10, R11 rows that are the same for all places: inflow, stay
//	DX, BX   indexes and shares by place
//	AX       128 times an index, the offset of its row
//	CX       places that are left
//	Y6       the lane of this place; Y7 its share
//	Y12-Y15  sums, one a goal noise

// WEIGHT sets Y0 to the weight of those who plan: hidden + share × inflow.
#define WEIGHT(OFFSET) \
	VMULPD OFFSET(R10), Y7, Y0 \
	VADDPD OFFSET(SI)(AX*1), Y0, Y0

// MOVE moves on the weight in Y0.
#define MOVE(OFFSET, SUM) \
	VMULPD Y6, Y0, Y0 \
	VADDPD Y0, SUM, SUM \
	VMULPD OFFSET(R11), Y0, Y1 \
	VADDPD OFFSET(R8)(AX*1), Y1, Y1 \
	VMOVUPD Y1, OFFSET(R8)(AX*1)

// KEEP moves on a weight of those who plan, and keeps it.
#define KEEP(OFFSET, SUM) \
	WEIGHT(OFFSET) \
	VMOVUPD Y0, OFFSET(DI) \
	MOVE(OFFSET, SUM)

// ADVANCE moves on a weight that was kept.
#define ADVANCE(OFFSET, SUM) \
	VMULPD OFFSET(SI), Y6, Y0 \
	VADDPD Y0, SUM, SUM \
	VMULPD OFFSET(R11), Y0, Y1 \
	VADDPD OFFSET(R8)(AX*1), Y1, Y1 \
	VMOVUPD Y1, OFFSET(R8)(AX*1)

#define DOT(OFFSET, SUM) \
	VMULPD OFFSET(SI), Y6, Y0 \
	VADDPD Y0, SUM, SUM

#define DECAY(OFFSET, SUM) \
	VMULPD OFFSET(R11), SUM, SUM \
	DOT(OFFSET, SUM)

#define CLEAR_SUMS \
	VXORPD Y12, Y12, Y12 \
	VXORPD Y13, Y13, Y13 \
	VXORPD Y14, Y14, Y14 \
	VXORPD Y15, Y15, Y15

// STORE_SUMS stores the sums where AX points.
#define STORE_SUMS \
	VMOVUPD Y12, (AX) \
	VMOVUPD Y13, 32(AX) \
	VMOVUPD Y14, 64(AX) \
	VMOVUPD Y15, 96(AX) \
	VZEROUPPER

// PLACE loads index, share and lane of a place.
#define PLACE \
	MOVLQSX (DX), AX \
	SHLQ $7, AX \
	VBROADCASTSD (BX), Y7 \
	VMOVUPD (R9), Y6

// NEXT_PLACE goes on to the next place.
#define NEXT_PLACE \
	ADDQ $4, DX \
	ADDQ $8, BX \
	ADDQ $32, R9

// func beginAVX(t *Transfer, p *Planning)
TEXT ·beginAVX(SB), NOSPLIT, $0-16
	MOVQ t+0(FP), R12
	MOVQ p+8(FP), R13
	MOVQ Planning_Kept(R13), DI
	MOVQ (Planning_Kept+8)(R13), CX
	MOVQ Planning_Hidden(R13), SI
	MOVQ Planning_Share(R13), BX
	MOVQ Planning_Inflow(R13), R10
	MOVQ Transfer_Next(R12), R9
	MOVQ (Transfer_Order+Indexes_at)(R12), DX
	MOVQ Transfer_To(R12), R8
	MOVQ Transfer_Stay(R12), R11
	CLEAR_SUMS
	TESTQ CX, CX
	JZ begun

keep:
	PLACE
	KEEP(0, Y12)
	KEEP(32, Y13)
	KEEP(64, Y14)
	KEEP(96, Y15)
	NEXT_PLACE
	ADDQ $128, DI
	DECQ CX
	JNZ keep

begun:
	MOVQ (Transfer_Next+8)(R12), CX
	SUBQ (Planning_Kept+8)(R13), CX
	JZ done

rest:
	PLACE
	WEIGHT(0)
	MOVE(0, Y12)
	WEIGHT(32)
	MOVE(32, Y13)
	WEIGHT(64)
	MOVE(64, Y14)
	WEIGHT(96)
	MOVE(96, Y15)
	NEXT_PLACE
	DECQ CX
	JNZ rest

done:
	MOVQ Transfer_Sum(R12), AX
	STORE_SUMS
	RET

// func advanceAVX(t *Transfer, weights *Row)
TEXT ·advanceAVX(SB), NOSPLIT, $0-16
	MOVQ t+0(FP), R12
	MOVQ weights+8(FP), SI
	MOVQ Transfer_Next(R12), R9
	MOVQ (Transfer_Next+8)(R12), CX
	MOVQ (Transfer_Order+Indexes_at)(R12), DX
	MOVQ Transfer_To(R12), R8
	MOVQ Transfer_Stay(R12), R11
	CLEAR_SUMS

advance:
	MOVLQSX (DX), AX
	SHLQ $7, AX
	VMOVUPD (R9), Y6
	ADVANCE(0, Y12)
	ADVANCE(32, Y13)
	ADVANCE(64, Y14)
	ADVANCE(96, Y15)
	ADDQ $4, DX
	ADDQ $128, SI
	ADDQ $32, R9
	DECQ CX
	JNZ advance
	MOVQ Transfer_Sum(R12), AX
	STORE_SUMS
	RET

// func dotAVX(a *Row, b *Lane, n int, sum *Row)
TEXT ·dotAVX(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	CLEAR_SUMS

dot:
	VMOVUPD (DI), Y6
	DOT(0, Y12)
	DOT(32, Y13)
	DOT(64, Y14)
	DOT(96, Y15)
	ADDQ $128, SI
	ADDQ $32, DI
	DECQ CX
	JNZ dot
	MOVQ sum+24(FP), AX
	STORE_SUMS
	RET

// func decayAVX(a *Row, b *Lane, n int, factor, sum *Row)
TEXT ·decayAVX(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ factor+24(FP), R11
	CLEAR_SUMS

decay:
	VMOVUPD (DI), Y6
	DECAY(0, Y12)
	DECAY(32, Y13)
	DECAY(64, Y14)
	DECAY(96, Y15)
	ADDQ $128, SI
	ADDQ $32, DI
	DECQ CX
	JNZ decay
	MOVQ sum+32(FP), AX
	STORE_SUMS
	RET

// func combineAVX(to, a, b *Lane, n int, xy *[2]float64)
TEXT ·combineAVX(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), R8
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ n+24(FP), CX
	MOVQ xy+32(FP), AX
	VBROADCASTSD (AX), Y4
	VBROADCASTSD 8(AX), Y5

combine:
	VMULPD (SI), Y4, Y0
	VMULPD (DI), Y5, Y1
	VADDPD Y1, Y0, Y0
	VMOVUPD Y0, (R8)
	ADDQ $32, R8
	ADDQ $32, SI
	ADDQ $32, DI
	DECQ CX
	JNZ combine
	VZEROUPPER
	RET

// PASS passes on the weights of one goal noise. BX points to Own and DX to ToOthers of the
// power, whose second rows are 128 bytes further.
#define PASS(OFFSET) \
	VMULPD OFFSET(SI), Y6, Y0 \
	VMOVUPD OFFSET(DI), Y1 \
	VADDPD Y1, Y0, Y2 \
	VADDPD OFFSET(R8), Y2, Y2 \
	VMOVUPD Y2, OFFSET(R8) \
	VMULPD OFFSET(BX), Y0, Y2 \
	VMULPD (128+OFFSET)(BX), Y1, Y3 \
	VADDPD Y3, Y2, Y2 \
	VADDPD OFFSET(R9), Y2, Y2 \
	VMOVUPD Y2, OFFSET(R9) \
	VMULPD OFFSET(DX), Y0, Y2 \
	VMULPD (128+OFFSET)(DX), Y1, Y3 \
	VADDPD Y3, Y2, Y2 \
	VADDPD OFFSET(R10), Y2, Y2 \
	VMOVUPD Y2, OFFSET(R10)

// func passAVX(h *Handover)
TEXT ·passAVX(SB), NOSPLIT, $0-8
	MOVQ h+0(FP), R12
	MOVQ Handover_Own(R12), SI
	MOVQ Handover_Next(R12), AX
	MOVQ Handover_Others(R12), DI
	MOVQ Handover_Power(R12), R11
	LEAQ Power_Own(R11), BX
	LEAQ Power_ToOthers(R11), DX
	MOVQ Handover_Total(R12), R8
	MOVQ Handover_OwnTo(R12), R9
	MOVQ Handover_Inflow(R12), R10
	VMOVUPD (AX), Y6
	PASS(0)
	PASS(32)
	PASS(64)
	PASS(96)
	VZEROUPPER
	RET
