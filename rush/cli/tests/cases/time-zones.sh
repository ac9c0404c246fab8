# A zone is a name of the data base or a rule; an offset beyond 24:59:59 is that.
for zone in UTC0 EST5 EST5EDT,M3.2.0,M11.1.0 '<-03>3:30' EST24:59:59 EST25 EST255 'EST-167:70' ''; do
    TZ=$zone date -d @1720000000 '+%H:%M:%S %z %Z'
done
#> 09:46:40 +0000 UTC
#> 04:46:40 -0500 EST
#> 05:46:40 -0400 EDT
#> 06:16:40 -0330 -03
#> 08:46:41 -2459 EST
#> 09:46:40 -2400 EST
#> 09:46:40 -2400 EST
#> 10:45:40 +2459 EST
#> 09:46:40 +0000 UTC
#? 0
