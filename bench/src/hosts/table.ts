/** Renders a Markdown table; the first row is the header. */
export function tableOf([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (fields: readonly string[]): string => `| ${fields.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
