#!/usr/bin/env escript
%% SPDX-License-Identifier: Apache-2.0
%% Maps, in processes of the runtime's own that send each other messages.
work(Parent, Seed) ->
    Values = lists:foldl(fun(I, [V | _] = All) -> [(V * 1103515245 + 12345 + I) band 16#3fffffff | All] end,
                         [Seed], lists:seq(1, 40000)),
    Map = maps:from_list([{V, V band 1023} || V <- Values]),
    Parent ! {Seed, maps:fold(fun(K, N, S) -> (S + K bxor N) band 16#3fffffff end, 0, Map)}.

main(_) ->
    Me = self(),
    [spawn(fun() -> work(Me, Seed) end) || Seed <- lists:seq(1, 8)],
    [receive {Seed, Sum} -> io:format("~p ~p~n", [Seed, Sum]) end || Seed <- lists:seq(1, 8)].
