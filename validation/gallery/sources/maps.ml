(* SPDX-License-Identifier: Apache-2.0 *)
(* Maps, and a stack overflow, which OCaml's runtime makes an exception of in its handler of SIGSEGV. *)
module Numbers = Map.Make (Int)

let rec deep n = 1 + deep (n + 1)

let () =
  let map = ref Numbers.empty and value = ref 1 in
  for i = 0 to 299_999 do
    value := (!value * 1103515245 + 12345) land 0x3fffffff;
    map := Numbers.add !value i !map
  done;
  Printf.printf "%d\n" (Numbers.fold (fun key number sum -> (sum * 31 + key lxor number) land 0x3fffffff) !map 0);
  try Printf.printf "%d\n" (deep 0) with Stack_overflow -> print_endline "Stack_overflow"
