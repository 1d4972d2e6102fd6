// The script behind alerts on sloping lines: one script for all of them, which gets the line by its inputs.

export const SCRIPT_NAME = 'Distance to a drawn line'
/**
 * It plots the close minus the line's price, which crosses zero where the close crosses the line. The line runs from bar to
 * bar as it is drawn, so a weekend takes no room.
 */
export const LINE_SCRIPT = `//@version=6
indicator("${SCRIPT_NAME}")
int time1 = input.time(timestamp("2024-01-01"), "Time 1")
float price1 = input.float(0, "Price 1")
int time2 = input.time(timestamp("2024-02-01"), "Time 2")
float price2 = input.float(0, "Price 2")
bool before = input.bool(false, "Before the first point")
bool after = input.bool(true, "After the second point")

// The place of a time among the bars; beyond them at the interval's own pace.
barOf(int at) =>
    var float found = na
    if na(found) and time >= at
        found := bar_index
        if barstate.isfirst
            found := (at - time) / (timeframe.in_seconds() * 1000)
    na(found) ? bar_index + (at - time) / (timeframe.in_seconds() * 1000) : found

float bar1 = barOf(time1)
float bar2 = barOf(time2)
float line = price1 + (price2 - price1) * (bar_index - bar1) / (bar2 - bar1)
bool shown = (before or time >= time1) and (after or time <= time2)
plot(shown ? close - line : na, "Distance")
`
