// Dates, spans and texts at the ends of what can be, and beyond. Nothing here takes long, and all of it ends.
const { Duration, Instant, PlainDate, PlainDateTime, PlainMonthDay, PlainTime, PlainYearMonth, ZonedDateTime } = Temporal;
const FIRST = "-271821-04-19", LAST = "+275760-09-13";
for (const calendar of ["iso8601", "gregory", "hebrew", "chinese", "dangi", "islamic-umalqura", "persian", "ethiopic", "japanese", "roc"]) {
  const in_ = (text) => PlainDate.from(`${text}[u-ca=${calendar}]`);
  for (const largestUnit of ["days", "weeks", "months", "years"]) {
    survives(() => in_(FIRST).until(in_(LAST), { largestUnit }));
    survives(() => in_(LAST).since(in_(FIRST), { largestUnit, smallestUnit: largestUnit, roundingIncrement: 999_999, roundingMode: "expand" }));
    survives(() => Duration.from({ days: 1e8 }).round({ largestUnit, relativeTo: in_("1970-01-01") }));
    survives(() => Duration.from({ months: 4_294_967_295 }).total({ unit: largestUnit, relativeTo: in_("1970-01-01") }));
  }
  survives(() => in_(FIRST).until(in_(LAST), { smallestUnit: "months" }));
  survives(() => PlainDate.from({ calendar, year: 200_000, month: 13, day: 31 }));
  survives(() => PlainYearMonth.from({ calendar, year: -200_000, month: 1 }).until(PlainYearMonth.from({ calendar, year: 200_000, month: 1 }), { largestUnit: "months" }));
  survives(() => PlainMonthDay.from({ calendar, monthCode: "M12L", day: 31 }));
  survives(() => in_("1970-01-01").add({ months: 3_000_000 }));
  survives(() => in_("1970-01-01").subtract({ years: 200_000 }));
  survives(() => [in_(LAST).monthCode, in_(FIRST).daysInYear, in_(LAST).inLeapYear]);
}
assertThrows(RangeError, () => PlainDate.from(FIRST).subtract({ days: 1 }));
assertThrows(RangeError, () => PlainDate.from(LAST).add({ days: 1 }));
assertThrows(RangeError, () => new PlainDate(1e300, 1e300, 1e300));
assertThrows(RangeError, () => PlainDate.from({ year: 2 ** 53, month: 1, day: 1 }));
const least = Instant.fromEpochNanoseconds(-8640000000000000000000n), most = Instant.fromEpochNanoseconds(8640000000000000000000n);
assertThrows(RangeError, () => most.add({ nanoseconds: 1 }));
for (const zone of ["UTC", "+23:59", "-23:59", "America/New_York", "Pacific/Apia", "Africa/Monrovia"]) {
  for (const instant of [least, most]) {
    const zoned = survives(() => instant.toZonedDateTimeISO(zone));
    survives(() => zoned.startOfDay());
    survives(() => zoned.hoursInDay);
    survives(() => zoned.round({ smallestUnit: "day", roundingMode: "ceil" }));
    survives(() => zoned.getTimeZoneTransition("next"));
    survives(() => zoned.getTimeZoneTransition("previous"));
    for (const largestUnit of ["nanoseconds", "hours", "months", "years"]) {
      survives(() => least.toZonedDateTimeISO(zone).until(zoned, { largestUnit, smallestUnit: largestUnit, roundingIncrement: 1e9 }));
      survives(() => new ZonedDateTime(0n, zone).until(zoned, { largestUnit }));
    }
  }
}
for (const fields of [{ years: 4_294_967_295 }, { nanoseconds: Number.MAX_SAFE_INTEGER }, { seconds: 2 ** 53 - 1 }, { days: 1e14 }, { hours: 2_501_999_792_983 }]) {
  for (const largestUnit of ["nanoseconds", "hours", "weeks", "years"]) {
    survives(() => Duration.from(fields).round({ largestUnit, relativeTo: "1970-01-01" }));
    survives(() => Duration.from(fields).total({ unit: largestUnit, relativeTo: "1970-01-01T00:00Z[Europe/London]" }));
  }
}
survives(() => new PlainTime(1e300));
survives(() => PlainTime.from("12:00").add({ hours: 2 ** 53 - 1 }));
survives(() => PlainTime.from("12:00").round({ smallestUnit: "nanosecond", roundingIncrement: 1e9 }));
survives(() => PlainDateTime.from("-271821-04-19T00:00:00.000000001").until("+275760-09-13T23:59:59.999999999", { largestUnit: "nanoseconds" }));
for (const text of ["1".repeat(1e6), "2020-01-01" + "[u-ca=iso8601]".repeat(1e4), `2020-01-01[u-ca=${"a".repeat(1e6)}]`, "2020-01-01T00:00Z" + "[x=y]".repeat(1e4), `2020-01-01T00:00[${"a/".repeat(1e5)}]`, `P${"9".repeat(1e6)}Y`, `PT0.${"9".repeat(1e6)}H`]) {
  for (const type of [PlainDate, PlainDateTime, PlainTime, PlainYearMonth, PlainMonthDay, Instant, ZonedDateTime, Duration]) survives(() => type.from(text));
}
