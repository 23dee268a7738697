/** Returns the page with all demo numbers replaced by those that the demo printed. */
export function withDemoNumbers(page, printed) {
  const [, tools, tokens, listed, cost] =
    /(\d+) tools, ([\d,]+) tokens\. Clients see (\d+) tools \(([\d,]*\d) tokens/u.exec(printed) ?? []
  if (cost === undefined) throw new Error('the output of npm start has no line with tool and token counts')
  return page
    .replace(/(servers: )\d+ tools, [\d,]*\d tokens/u, `$1${tools} tools, ${cost} tokens`)
    .replace(
      /\d+ tools that would cost(\s)a(\s)model(\s)[\d,]*\d tokens/u,
      `${tools} tools that would cost$1a$2model$3${tokens} tokens`,
    )
    .replace(
      /(\| tool list, demo +\| )\d+ tools, [\d,]*\d tokens(.*\| )\d+ tools, [\d,]*\d tokens/u,
      (_, start, middle) => `${start}${tools} tools, ${tokens} tokens${middle}${listed} tools, ${cost} tokens`,
    )
}
