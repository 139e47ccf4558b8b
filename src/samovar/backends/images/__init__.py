"""Images: machine code in one flat blob that runs at any address. Links the ELF objects of any backend; independent of LLVM
and of the IR."""
