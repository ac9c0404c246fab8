%% Erlang's half of nodes.py: compiled, as programs are; what is evaluated in a shell is slower.
-module(measured_node).
-export([sink/0, source/0]).

sink() ->
    register(echo, spawn(fun echo/0)),
    register(sink, spawn(fun() -> count(0) end)),
    io:format("ready~n").

echo() ->
    receive {From, Message} -> From ! Message, echo() end.

count(Seen) ->
    receive
        {count, From} -> From ! {counted, Seen}, count(Seen);
        _ -> count(Seen + 1)
    end.

%% The peer, how many round trips and how many messages come as plain arguments.
source() ->
    [Name, Trips, Messages] = init:get_plain_arguments(),
    Peer = list_to_atom(Name),
    true = net_kernel:connect_node(Peer),
    spawn(fun() -> measure(Peer, list_to_integer(Trips), list_to_integer(Messages)), halt() end).

measure(Peer, Trips, Messages) ->
    Times = lists:sort([trip(Peer, Turn) || Turn <- lists:seq(1, Trips)]),
    Payload = binary:copy(<<"x">>, 64),
    Begin = erlang:monotonic_time(nanosecond),
    send(Peer, Payload, Messages),
    {sink, Peer} ! {count, self()},
    receive {counted, Messages} -> ok end,
    Seconds = (erlang:monotonic_time(nanosecond) - Begin) / 1.0e9,
    Median = lists:nth(Trips div 2, Times) / 1000,
    io:format("{\"p50_us\": ~.2f, \"per_s\": ~.1f}~n", [Median, Messages / Seconds]).

trip(Peer, Turn) ->
    Begin = erlang:monotonic_time(nanosecond),
    {echo, Peer} ! {self(), Turn},
    receive Turn -> ok end,
    erlang:monotonic_time(nanosecond) - Begin.

send(_, _, 0) -> ok;
send(Peer, Payload, Left) -> {sink, Peer} ! Payload, send(Peer, Payload, Left - 1).
