/** Output of a gateway without what differs between runs: address, link of the dashboard, folder, version, process, times, and whose tools came in parts. */
export function reproducible(text, { url, root }) {
  return (
    text
      .replaceAll(url, 'http://127.0.0.1:7420/mcp')
      .replaceAll(/\S+\/ui\/\?code=[\w-]+/gu, 'http://127.0.0.1:7420/ui/?code=…')
      .replaceAll(root, '')
      .replaceAll(/\d\d:\d\d:\d\d/gu, '12:00:00')
      // Some servers register a part of their tools a moment later.
      .replaceAll(/(\d+)( tools? .* changed) \+\d+/gu, '$1$2 +$1')
      .replaceAll(/\bunfold(\S*) \d+\.\d+\.\d+/gu, 'unfold$1 0.1.0')
      .replaceAll(/pid \d+, up [^\r\n]*/gu, 'pid 4711, up 2 s')
      .replaceAll(/\d+ ms/gu, '… ms')
  )
}
