/**
 * Returns Lua that calls a command for the elements of a list, 1,000 at a time, because the number of arguments per
 * call is limited. `call` returns the Lua for one part; its argument is the Lua for the elements of the part. The
 * variable `first` is the index of the part's first element.
 */
export function inParts(list: string, call: (part: string) => string): string {
  // Indented by four spaces, because `end` after fewer spaces can end a function: see `shorten`.
  return /* lua */ `
    for first = 1, #${list}, 1000 do
      ${call(`unpack(${list}, first, math.min(first + 999, #${list}))`)}
    end`;
}
