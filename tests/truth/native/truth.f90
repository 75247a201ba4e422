! What every Fortran program of the corpus uses: see truth.h.
module truth
  use iso_c_binding
  implicit none
  interface
    subroutine spin(us) bind(c, name="truth_spin")
      import :: c_int
      integer(c_int), value :: us
    end subroutine
    integer(c_int) function threads() bind(c, name="truth_threads")
      import :: c_int
    end function
    subroutine say(what) bind(c, name="truth_say")
      import :: c_char
      character(kind=c_char), intent(in) :: what(*)
    end subroutine
  end interface
end module
