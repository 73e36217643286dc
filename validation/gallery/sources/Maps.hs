-- SPDX-License-Identifier: Apache-2.0
-- A map, in a runtime that runs its own threads by a timer.
import qualified Data.Map.Strict as Map
import Data.Bits (xor, (.&.))

values :: [Int]
values = take 200000 (tail (iterate (\v -> (v * 1103515245 + 12345) .&. 0x3fffffff) 1))

main :: IO ()
main = print (Map.foldlWithKey' (\s k n -> (s * 31 + (k `xor` n)) .&. 0x3fffffff) 0 (Map.fromList (zip values [0 ..])))
