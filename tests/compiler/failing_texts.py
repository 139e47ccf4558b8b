"""LLVM texts that LLVM dies of."""

from __future__ import annotations

from samovar.backends.llvm.target import Target, host_target


def ordinary(number: int) -> str:
    """A text that is nothing special."""
    return f"define i32 @samovar_entry(ptr %context, ptr %block) {{\n  ret i32 {number}\n}}\n"


#: The code generator knows no such register, and ends the process, in every form.
HOPELESS = """
define i32 @samovar_entry(ptr %context, ptr %block) {
  %value = call i64 @llvm.read_register.i64(metadata !0)
  %short = trunc i64 %value to i32
  ret i32 %short
}
declare i64 @llvm.read_register.i64(metadata)
!0 = !{!"nowhere"}
"""

#: LLVM fails in it, too, and its parser accepts it; but it is invalid.
INVALID = HOPELESS + """
define i32 @sum(i1 %some) {
  br i1 %some, label %then, label %after
then:
  %one = add i32 1, 2
  br label %after
after:
  ret i32 %one
}
"""

#: A running maximum in the form that kernels do not use: an assertion fails when LLVM makes vectors of it.
NOT_AS_VECTORS = """
define i32 @samovar_entry(ptr %context, ptr %block) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %most = phi half [ 0xH0000, %entry ], [ %more, %loop ]
  %short = trunc i64 %i to i32
  %wide = sitofp i32 %short to float
  %narrow = fptrunc float %wide to half
  %more = call half @llvm.maxnum.f16(half %most, half %narrow)
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, 1000
  br i1 %done, label %exit, label %loop
exit:
  store half %more, ptr %block
  ret i32 0
}
declare half @llvm.maxnum.f16(half, half)
"""

TARGET = host_target()
#: A processor for which LLVM is known to fail in it; nothing of it is run.
OTHER_TARGET = Target(TARGET.triple, "skylake-avx512", "+avx2,+fma,+f16c,+avx512f,+avx512dq", 0)


def long(functions: int) -> str:
    """A text that takes LLVM a while."""
    loop = """
define void @f{number}(ptr noalias %a, ptr noalias %b, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %p
  %y = fmul double %x, {number}.5
  %q = getelementptr inbounds double, ptr %b, i64 %i
  %z = load double, ptr %q
  %s = fadd double %y, %z
  store double %s, ptr %q
  %next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}}
"""
    return ordinary(0) + "".join(loop.format(number=number) for number in range(functions))
