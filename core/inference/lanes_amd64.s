#include "textflag.h"

// A lane is one register of four numbers, two lanes one of eight. Products and sums are
// separate instructions, so that they round as in Go.

// WEIGH gathers the weight of one noise, whose lane is OFFSET bytes into a row. Y7 has the
// share; R10 points to the inflow.
#define WEIGH(OFFSET) \
	VMULPD OFFSET(R10), Y7, Y0 \
	VADDPD OFFSET(SI)(AX*1), Y0, Y0

// STEP takes it on. Y6 has next; R11 points to stay.
#define STEP(OFFSET, SUM) \
	VMULPD Y6, Y0, Y0 \
	VADDPD Y0, SUM, SUM \
	VMULPD OFFSET(R11), Y0, Y1 \
	VADDPD OFFSET(R8)(AX*1), Y1, Y1 \
	VMOVUPD Y1, OFFSET(R8)(AX*1)

// ADVANCE is advance of one noise.
#define ADVANCE(OFFSET, SUM) \
	VMULPD OFFSET(SI), Y6, Y0 \
	VADDPD Y0, SUM, SUM \
	VMULPD OFFSET(R11), Y0, Y1 \
	VADDPD OFFSET(R8)(AX*1), Y1, Y1 \
	VMOVUPD Y1, OFFSET(R8)(AX*1)

// DOT is dot of one noise.
#define DOT(OFFSET, SUM) \
	VMULPD OFFSET(SI), Y6, Y0 \
	VADDPD Y0, SUM, SUM

// FOLD is fold of one noise. R11 points to stay.
#define FOLD(OFFSET, SUM) \
	VMULPD OFFSET(R11), SUM, SUM \
	DOT(OFFSET, SUM)

// CLEAR makes the sums 0.
#define CLEAR \
	VXORPD Y12, Y12, Y12 \
	VXORPD Y13, Y13, Y13 \
	VXORPD Y14, Y14, Y14 \
	VXORPD Y15, Y15, Y15

// LEAVE leaves the sums where AX points.
#define LEAVE \
	VMOVUPD Y12, (AX) \
	VMOVUPD Y13, 32(AX) \
	VMOVUPD Y14, 64(AX) \
	VMOVUPD Y15, 96(AX) \
	VZEROUPPER

// func beginAVX(now, hidden *row, next *lane, order *int32, share *float64, kept, n int, inflow, to, stay, sum *row)
TEXT ·beginAVX(SB), NOSPLIT, $0-88
	MOVQ now+0(FP), DI
	MOVQ hidden+8(FP), SI
	MOVQ next+16(FP), R9
	MOVQ order+24(FP), DX
	MOVQ share+32(FP), BX
	MOVQ kept+40(FP), CX
	MOVQ inflow+56(FP), R10
	MOVQ to+64(FP), R8
	MOVQ stay+72(FP), R11
	CLEAR
	TESTQ CX, CX
	JZ begun

begin:
	MOVLQSX (DX), AX
	SHLQ $7, AX
	VBROADCASTSD (BX), Y7
	VMOVUPD (R9), Y6
	WEIGH(0)
	VMOVUPD Y0, (DI)
	STEP(0, Y12)
	WEIGH(32)
	VMOVUPD Y0, 32(DI)
	STEP(32, Y13)
	WEIGH(64)
	VMOVUPD Y0, 64(DI)
	STEP(64, Y14)
	WEIGH(96)
	VMOVUPD Y0, 96(DI)
	STEP(96, Y15)
	ADDQ $4, DX
	ADDQ $8, BX
	ADDQ $128, DI
	ADDQ $32, R9
	DECQ CX
	JNZ begin

begun:
	MOVQ n+48(FP), CX
	SUBQ kept+40(FP), CX
	JZ left

rest:
	MOVLQSX (DX), AX
	SHLQ $7, AX
	VBROADCASTSD (BX), Y7
	VMOVUPD (R9), Y6
	WEIGH(0)
	STEP(0, Y12)
	WEIGH(32)
	STEP(32, Y13)
	WEIGH(64)
	STEP(64, Y14)
	WEIGH(96)
	STEP(96, Y15)
	ADDQ $4, DX
	ADDQ $8, BX
	ADDQ $32, R9
	DECQ CX
	JNZ rest

left:
	MOVQ sum+80(FP), AX
	LEAVE
	RET

// func advanceAVX(now *row, next *lane, order *int32, to *row, n int, stay, sum *row)
TEXT ·advanceAVX(SB), NOSPLIT, $0-56
	MOVQ now+0(FP), SI
	MOVQ next+8(FP), DI
	MOVQ order+16(FP), DX
	MOVQ to+24(FP), R8
	MOVQ n+32(FP), CX
	MOVQ stay+40(FP), R11
	CLEAR

advance:
	MOVLQSX (DX), AX
	SHLQ $7, AX
	VMOVUPD (DI), Y6
	ADVANCE(0, Y12)
	ADVANCE(32, Y13)
	ADVANCE(64, Y14)
	ADVANCE(96, Y15)
	ADDQ $4, DX
	ADDQ $128, SI
	ADDQ $32, DI
	DECQ CX
	JNZ advance
	MOVQ sum+48(FP), AX
	LEAVE
	RET

// func dotAVX(a *row, b *lane, n int, sum *row)
TEXT ·dotAVX(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	CLEAR

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
	LEAVE
	RET

// func foldAVX(a *row, b *lane, n int, stay, sum *row)
TEXT ·foldAVX(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	MOVQ stay+24(FP), R11
	CLEAR

fold:
	VMOVUPD (DI), Y6
	FOLD(0, Y12)
	FOLD(32, Y13)
	FOLD(64, Y14)
	FOLD(96, Y15)
	ADDQ $128, SI
	ADDQ $32, DI
	DECQ CX
	JNZ fold
	MOVQ sum+32(FP), AX
	LEAVE
	RET

// WEIGH512 gathers the weights of two noises. Z7 has the share.
#define WEIGH512(OFFSET, INFLOW) \
	VMULPD INFLOW, Z7, Z0 \
	VADDPD OFFSET(SI)(AX*1), Z0, Z0

// STEP512 takes them on. Z6 has next twice.
#define STEP512(OFFSET, STAY, SUM) \
	VMULPD Z6, Z0, Z0 \
	VADDPD Z0, SUM, SUM \
	VMULPD STAY, Z0, Z1 \
	VADDPD OFFSET(R8)(AX*1), Z1, Z1 \
	VMOVUPD Z1, OFFSET(R8)(AX*1)

// ADVANCE512 is advance of two noises.
#define ADVANCE512(OFFSET, STAY, SUM) \
	VMULPD OFFSET(SI), Z6, Z0 \
	VADDPD Z0, SUM, SUM \
	VMULPD STAY, Z0, Z1 \
	VADDPD OFFSET(R8)(AX*1), Z1, Z1 \
	VMOVUPD Z1, OFFSET(R8)(AX*1)

// func beginAVX512(now, hidden *row, next *lane, order *int32, share *float64, kept, n int, inflow, to, stay, sum *row)
TEXT ·beginAVX512(SB), NOSPLIT, $0-88
	MOVQ now+0(FP), DI
	MOVQ hidden+8(FP), SI
	MOVQ next+16(FP), R9
	MOVQ order+24(FP), DX
	MOVQ share+32(FP), BX
	MOVQ kept+40(FP), CX
	MOVQ inflow+56(FP), R10
	MOVQ to+64(FP), R8
	MOVQ stay+72(FP), R11
	VMOVUPD (R10), Z8
	VMOVUPD 64(R10), Z9
	VMOVUPD (R11), Z10
	VMOVUPD 64(R11), Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	TESTQ CX, CX
	JZ begun512

begin512:
	MOVLQSX (DX), AX
	SHLQ $7, AX
	VBROADCASTSD (BX), Z7
	VBROADCASTF64X4 (R9), Z6
	WEIGH512(0, Z8)
	VMOVUPD Z0, (DI)
	STEP512(0, Z10, Z12)
	WEIGH512(64, Z9)
	VMOVUPD Z0, 64(DI)
	STEP512(64, Z11, Z13)
	ADDQ $4, DX
	ADDQ $8, BX
	ADDQ $128, DI
	ADDQ $32, R9
	DECQ CX
	JNZ begin512

begun512:
	MOVQ n+48(FP), CX
	SUBQ kept+40(FP), CX
	JZ left512

rest512:
	MOVLQSX (DX), AX
	SHLQ $7, AX
	VBROADCASTSD (BX), Z7
	VBROADCASTF64X4 (R9), Z6
	WEIGH512(0, Z8)
	STEP512(0, Z10, Z12)
	WEIGH512(64, Z9)
	STEP512(64, Z11, Z13)
	ADDQ $4, DX
	ADDQ $8, BX
	ADDQ $32, R9
	DECQ CX
	JNZ rest512

left512:
	MOVQ sum+80(FP), AX
	VMOVUPD Z12, (AX)
	VMOVUPD Z13, 64(AX)
	VZEROUPPER
	RET

// func advanceAVX512(now *row, next *lane, order *int32, to *row, n int, stay, sum *row)
TEXT ·advanceAVX512(SB), NOSPLIT, $0-56
	MOVQ now+0(FP), SI
	MOVQ next+8(FP), DI
	MOVQ order+16(FP), DX
	MOVQ to+24(FP), R8
	MOVQ n+32(FP), CX
	MOVQ stay+40(FP), R11
	VMOVUPD (R11), Z10
	VMOVUPD 64(R11), Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13

advance512:
	MOVLQSX (DX), AX
	SHLQ $7, AX
	VBROADCASTF64X4 (DI), Z6
	ADVANCE512(0, Z10, Z12)
	ADVANCE512(64, Z11, Z13)
	ADDQ $4, DX
	ADDQ $128, SI
	ADDQ $32, DI
	DECQ CX
	JNZ advance512
	MOVQ sum+48(FP), AX
	VMOVUPD Z12, (AX)
	VMOVUPD Z13, 64(AX)
	VZEROUPPER
	RET

// GAIN is gain of one noise.
#define GAIN(OFFSET) \
	VMULPD OFFSET(SI), Y6, Y0 \
	VADDPD OFFSET(DI), Y0, Y0 \
	VMOVUPD Y0, OFFSET(DI)

// func gainAVX(to, a *row, b *lane)
TEXT ·gainAVX(SB), NOSPLIT, $0-24
	MOVQ to+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	VMOVUPD (DX), Y6
	GAIN(0)
	GAIN(32)
	GAIN(64)
	GAIN(96)
	VZEROUPPER
	RET

// PASS is pass of one noise. Y6 has next; R11 points to the powers, row by row.
#define PASS(OFFSET) \
	VMULPD OFFSET(SI), Y6, Y0 \
	VMOVUPD OFFSET(DX), Y1 \
	VADDPD Y1, Y0, Y2 \
	VADDPD OFFSET(R8), Y2, Y2 \
	VMOVUPD Y2, OFFSET(R8) \
	VMULPD OFFSET(R11), Y0, Y2 \
	VMULPD (128+OFFSET)(R11), Y1, Y3 \
	VADDPD Y3, Y2, Y2 \
	VADDPD OFFSET(R9), Y2, Y2 \
	VMOVUPD Y2, OFFSET(R9) \
	VMULPD (256+OFFSET)(R11), Y0, Y2 \
	VMULPD (384+OFFSET)(R11), Y1, Y3 \
	VADDPD Y3, Y2, Y2 \
	VADDPD OFFSET(R10), Y2, Y2 \
	VMOVUPD Y2, OFFSET(R10)

// func passAVX(own *row, next *lane, others, powers, total, ownTo, inflowTo *row)
TEXT ·passAVX(SB), NOSPLIT, $0-56
	MOVQ own+0(FP), SI
	MOVQ next+8(FP), DI
	MOVQ others+16(FP), DX
	MOVQ powers+24(FP), R11
	MOVQ total+32(FP), R8
	MOVQ ownTo+40(FP), R9
	MOVQ inflowTo+48(FP), R10
	VMOVUPD (DI), Y6
	PASS(0)
	PASS(32)
	PASS(64)
	PASS(96)
	VZEROUPPER
	RET

// func mixAVX(to, a, b *lane, n int, x, y float64)
TEXT ·mixAVX(SB), NOSPLIT, $0-48
	MOVQ to+0(FP), R8
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ n+24(FP), CX
	VBROADCASTSD x+32(FP), Y4
	VBROADCASTSD y+40(FP), Y5

mix:
	VMULPD (SI), Y4, Y0
	VMULPD (DI), Y5, Y1
	VADDPD Y1, Y0, Y0
	VMOVUPD Y0, (R8)
	ADDQ $32, R8
	ADDQ $32, SI
	ADDQ $32, DI
	DECQ CX
	JNZ mix
	VZEROUPPER
	RET
