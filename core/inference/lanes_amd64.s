#include "textflag.h"

// A lane is one register of four numbers. Products and sums are separate
// instructions, so that they round as in Go.

// func gatherAVX(now, hidden *lane, order *int32, share *float64, n int, inflow *lane)
TEXT ·gatherAVX(SB), NOSPLIT, $0-48
	MOVQ now+0(FP), DI
	MOVQ hidden+8(FP), SI
	MOVQ order+16(FP), DX
	MOVQ share+24(FP), BX
	MOVQ n+32(FP), CX
	MOVQ inflow+40(FP), AX
	VMOVUPD (AX), Y5

gather:
	MOVLQSX (DX), AX
	SHLQ $5, AX
	VBROADCASTSD (BX), Y0
	VMULPD Y5, Y0, Y0
	VADDPD (SI)(AX*1), Y0, Y0
	VMOVUPD Y0, (DI)
	ADDQ $4, DX
	ADDQ $8, BX
	ADDQ $32, DI
	DECQ CX
	JNZ gather
	VZEROUPPER
	RET

// func advanceAVX(now, next *lane, order *int32, to *lane, n int, stay float64, sum *lane)
TEXT ·advanceAVX(SB), NOSPLIT, $0-56
	MOVQ now+0(FP), SI
	MOVQ next+8(FP), DI
	MOVQ order+16(FP), DX
	MOVQ to+24(FP), R8
	MOVQ n+32(FP), CX
	VBROADCASTSD stay+40(FP), Y5
	VXORPD Y4, Y4, Y4

advance:
	MOVLQSX (DX), AX
	SHLQ $5, AX
	VMOVUPD (SI), Y0
	VMULPD (DI), Y0, Y0
	VADDPD Y0, Y4, Y4
	VMULPD Y5, Y0, Y1
	VADDPD (R8)(AX*1), Y1, Y1
	VMOVUPD Y1, (R8)(AX*1)
	ADDQ $4, DX
	ADDQ $32, SI
	ADDQ $32, DI
	DECQ CX
	JNZ advance
	MOVQ sum+48(FP), AX
	VMOVUPD Y4, (AX)
	VZEROUPPER
	RET

// func dotAVX(a, b *lane, n int, sum *lane)
TEXT ·dotAVX(SB), NOSPLIT, $0-32
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DI
	MOVQ n+16(FP), CX
	VXORPD Y4, Y4, Y4

dot:
	VMOVUPD (SI), Y0
	VMULPD (DI), Y0, Y0
	VADDPD Y0, Y4, Y4
	ADDQ $32, SI
	ADDQ $32, DI
	DECQ CX
	JNZ dot
	MOVQ sum+24(FP), AX
	VMOVUPD Y4, (AX)
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
