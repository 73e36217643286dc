; SPDX-License-Identifier: Apache-2.0
; Hash tables, and lists that are collected: for any Lisp.
(defun work (seed)
  (let ((table (make-hash-table)) (value seed) (sum 0))
    (dotimes (i 60000)
      (setq value (logand (+ (* value 1103515) 12345) 1073741823))
      (setf (gethash value table) (logand value 1023)))
    (maphash (lambda (key number) (setq sum (logand (+ sum (logxor key number)) 1073741823))) table)
    sum))

(dotimes (seed 12) (format t "~a ~a~%" seed (work (+ seed 1))))
(format t "~a~%" (let ((lists nil)) (dotimes (i 300000) (push (list i) lists)) (length lists)))
