import type { Finding } from '@unfold-mcp/gateway'
import { safeText } from '../text/safe.ts'
import { wrapped } from '../text/wrap.ts'
import type { Screen } from './entry.ts'

/** The rule that fired, and the text that triggered it. */
export function findingLines(findings: readonly Finding[], { style, width }: Screen): readonly string[] {
  return findings.flatMap(({ tool, path, rule, description, excerpt }) => [
    ...wrapped(
      `${tool === undefined ? '' : `${safeText(tool)}: `}${safeText(path, { limit: 300 })} ${safeText(description)} (${rule})`,
      width - 2,
    ).map((line) => `  ${style.yellow(line)}`),
    ...wrapped(safeText(excerpt), width - 6).map((line) => `      ${line}`),
  ])
}
