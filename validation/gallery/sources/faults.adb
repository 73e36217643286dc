-- SPDX-License-Identifier: Apache-2.0
-- Constraint errors that GNAT's runtime raises in its handlers of SIGSEGV and SIGFPE.
with Ada.Text_IO; use Ada.Text_IO;

procedure Faults is
   type Number_Access is access all Integer;
   pragma Suppress (All_Checks);
   Nowhere : Number_Access := null;
   pragma Volatile (Nowhere);
   Zero    : Integer := 0;
   pragma Volatile (Zero);
   Caught  : Natural := 0;
   type Numbers is array (0 .. 2**21 - 1) of Integer;
   type Numbers_Access is access Numbers;
   Next    : constant Numbers_Access := new Numbers;
   At_One  : Integer := 0;
begin
   for I in Next'Range loop
      Next (I) := (I * 5 + 12345) mod 2**21;
   end loop;
   for Round in 1 .. 1000 loop
      for Step in 1 .. 10000 loop
         At_One := Next (At_One);
      end loop;
      begin
         if Round mod 2 = 0 then
            Nowhere.all := At_One;
         else
            At_One := At_One / Zero;
         end if;
      exception
         when others => Caught := Caught + 1;
      end;
   end loop;
   Put_Line (Integer'Image (Caught) & Integer'Image (At_One));
end Faults;
