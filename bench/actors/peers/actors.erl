%% W1 to W7 on Erlang/OTP: an actor is a process. Run as: erl -noshell +P 20000000 -pa DIR -run actors main WORKLOAD [SCALE]
-module(actors).
-export([main/1]).

main([Workload]) -> main([Workload, "1"]);
main([Workload, ScaleText]) ->
    Scale = number(ScaleText),
    case run(Workload, Scale) of
        unsupported -> halt(3);
        {Ops, Microseconds, Bytes, Wrong} ->
            io:format("{\"workload\":\"~s\",\"ops\":~b,\"seconds\":~.6f,\"bytes_per_actor\":~b,\"wrong\":~b}~n",
                      [Workload, Ops, Microseconds / 1.0e6, Bytes, Wrong]),
            halt(0)
    end.

number(Text) ->
    try list_to_float(Text) catch error:badarg -> float(list_to_integer(Text)) end.

now_us() -> erlang:monotonic_time(microsecond).

%% Answers `done` to its owner for each message.
counting(Owner) ->
    receive
        stop -> ok;
        _ -> Owner ! done, counting(Owner)
    end.

spawn_all(0, _, Pids) -> Pids;
spawn_all(Count, Owner, Pids) -> spawn_all(Count - 1, Owner, [spawn(fun() -> counting(Owner) end) | Pids]).

await_done(0) -> ok;
await_done(Count) -> receive done -> await_done(Count - 1) end.

resident() ->
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = binary:split(Text, <<" ">>, [global]),
    binary_to_integer(Pages) * 4096.

run("W1", Scale) ->
    Count = round(100000 * Scale),
    Start = now_us(),
    spawn_all(Count, self(), []),
    {Count, now_us() - Start, 0, 0};
run("W2", Scale) ->
    Count = round(100000 * Scale),
    Pids = spawn_all(Count, self(), []),
    Start = now_us(),
    lists:foreach(fun(Pid) -> Pid ! 1 end, Pids),
    await_done(Count),
    {Count, now_us() - Start, 0, 0};
run("W3", Scale) ->
    Count = round(1000000 * Scale),
    Owner = self(),
    Pid = spawn(fun() -> summing(Owner, 0, Count, 0) end),
    Start = now_us(),
    send_numbers(Pid, 0, Count),
    Wrong = receive {wrong, W} -> W end,
    {Count, now_us() - Start, 0, Wrong};
run("W4", Scale) ->
    Rounds = round(100000 * Scale),
    Owner = self(),
    Echo = spawn(fun echo/0),
    Start = now_us(),
    spawn(fun() -> ping(Owner, Echo, 0, Rounds, 0) end),
    Wrong = receive {wrong, W} -> W end,
    {Rounds, now_us() - Start, 0, Wrong};
run("W5", Scale) ->
    Swaps = round(100000 * Scale),
    Owner = self(),
    Pid = spawn(fun() -> swappable(Owner, behaviour(0), Swaps, 0) end),
    Start = now_us(),
    send_swaps(Pid, 0, Swaps),
    Wrong = receive {wrong, W} -> W end,
    {Swaps, now_us() - Start, 0, Wrong};
run("W6", Scale) ->
    Count = round(100000 * Scale),
    Before = resident(),
    Pids = spawn_all(Count, self(), []),
    Used = resident() - Before,
    {length(Pids), 0, Used div Count, 0};
run("W7", Scale) ->
    Count = round(100000 * Scale),
    Pids = [element(1, spawn_monitor(fun() -> counting(undefined) end)) || _ <- lists:seq(1, Count)],
    Start = now_us(),
    lists:foreach(fun(Pid) -> Pid ! stop end, Pids),
    await_down(Count),
    {Count, now_us() - Start, 0, 0};
run(_, _) -> unsupported.

await_down(0) -> ok;
await_down(Count) -> receive {'DOWN', _, process, _, _} -> await_down(Count - 1) end.

send_numbers(_, Count, Count) -> ok;
send_numbers(Pid, At, Count) -> Pid ! At, send_numbers(Pid, At + 1, Count).

summing(Owner, Count, Count, Wrong) -> Owner ! {wrong, Wrong};
summing(Owner, Expected, Count, Wrong) ->
    receive
        Expected -> summing(Owner, Expected + 1, Count, Wrong);
        _ -> summing(Owner, Expected + 1, Count, Wrong + 1)
    end.

echo() -> receive {From, Value} -> From ! Value, echo() end.

ping(Owner, _, Rounds, Rounds, Wrong) -> Owner ! {wrong, Wrong};
ping(Owner, Echo, At, Rounds, Wrong) ->
    Echo ! {self(), At},
    receive
        At -> ping(Owner, Echo, At + 1, Rounds, Wrong);
        _ -> ping(Owner, Echo, At + 1, Rounds, Wrong + 1)
    end.

behaviour(Version) -> fun(Message) -> Message =:= Version end.

send_swaps(_, Swaps, Swaps) -> ok;
send_swaps(Pid, Version, Swaps) ->
    Pid ! Version, Pid ! Version, Pid ! Version, Pid ! Version, Pid ! Version,
    Pid ! {swap, behaviour(Version + 1)},
    send_swaps(Pid, Version + 1, Swaps).

swappable(Owner, _, 0, Wrong) -> Owner ! {wrong, Wrong};
swappable(Owner, Handler, Left, Wrong) ->
    receive
        {swap, New} -> swappable(Owner, New, Left - 1, Wrong);
        Message ->
            case Handler(Message) of
                true -> swappable(Owner, Handler, Left, Wrong);
                false -> swappable(Owner, Handler, Left, Wrong + 1)
            end
    end.
