import { createHash } from 'node:crypto'
import type { Audit, AuditFault } from '../../records/records.ts'
import { truncate } from '../../reply/reply.ts'
import { isoTime } from '../time.ts'
import { uriOf } from '../uri.ts'
import type { Level, Message, Sarif, SarifResult, SarifRule, SarifRun } from './sarif-format.ts'

export interface SarifOptions {
  readonly version: string
  /** Maximum length of the results, in characters. */
  readonly limit?: number
}

const levels = { critical: 'error', serious: 'error', moderate: 'warning', minor: 'note' } as const satisfies Record<
  AuditFault['impact'],
  Level
>
const maxCharacters = 2_000_000
const maxTextLength = 1_000

/** Converts an audit to a SARIF 2.1.0 log: one result per element with a violation. */
export function sarif(audit: Audit, { version, limit = maxCharacters }: SarifOptions): Sarif {
  const faults = merged(audit.faults)
  const uri = uriOf(audit.url)
  const all = faults.flatMap((fault, ruleIndex) => resultsOf(fault, ruleIndex, uri))
  const results = withinLimit(all, limit)
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'unfold-browser',
            version,
            rules: faults.map(ruleOf),
          },
        },
        automationDetails: { id: 'accessibility/' },
        invocations: [
          {
            executionSuccessful: true,
            endTimeUtc: isoTime(audit.at),
            toolExecutionNotifications: [...omittedNotifications(faults), ...leftOut(all.length - results.length)],
          },
        ],
        artifacts: [{ location: { uri }, roles: ['analysisTarget'] }],
        results: withOwnFingerprints(results),
        columnKind: 'utf16CodeUnits',
        properties: { engine: truncate(audit.engine, 100), passes: audit.passes, incomplete: audit.incomplete },
      },
    ],
  }
}

/** Merges violations of the same rule: SARIF lists a rule once per run. */
function merged(faults: readonly AuditFault[]): readonly AuditFault[] {
  const rules = new Map<string, AuditFault>()
  for (const fault of faults) {
    const known = rules.get(fault.rule)
    const both = known && { ...known, elements: [...known.elements, ...fault.elements], count: known.count + fault.count }
    rules.set(fault.rule, both ?? fault)
  }
  return [...rules.values()]
}

function ruleOf({ rule, impact, help, description, helpUrl, tags }: AuditFault): SarifRule {
  const isWeb = /^https?:/i.test(helpUrl) && URL.canParse(helpUrl)
  return {
    id: truncate(rule, 200),
    shortDescription: message(help),
    fullDescription: message(description),
    help: message(`${help}. ${description}`),
    ...(isWeb && { helpUri: uriOf(helpUrl) }),
    defaultConfiguration: { level: levels[impact] },
    // The schema requires unique tags.
    properties: { tags: [...new Set(['accessibility', ...tags.slice(0, 50).map((tag) => truncate(tag, 100))])] },
  }
}

function resultsOf({ rule, impact, help, elements }: AuditFault, ruleIndex: number, uri: string): readonly SarifResult[] {
  const result = (text: string, element?: AuditFault['elements'][number]): SarifResult => ({
    ruleId: truncate(rule, 200),
    ruleIndex,
    level: levels[impact],
    message: message(text),
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri, index: 0 },
          // Viewers require a line; a page modified by scripts has none.
          region: { startLine: 1, ...(element && { snippet: { text: truncate(element.html, maxTextLength) } }) },
        },
        ...(element && {
          logicalLocations: [{ fullyQualifiedName: truncate(element.selector, maxTextLength), kind: 'element' }],
        }),
      },
    ],
    partialFingerprints: { 'ruleAndElement/v1': digest([rule, uri, element?.selector ?? '']) },
    properties: { impact },
  })
  if (elements.length === 0) return [result(help)]
  return elements.map((element) => result(`${help}. ${element.summary}`, element))
}

/** Keeps the first results within the limit. */
function withinLimit(results: readonly SarifResult[], limit: number): readonly SarifResult[] {
  let length = 0
  const kept: SarifResult[] = []
  for (const result of results) {
    length += JSON.stringify(result, undefined, 1).length
    if (length > limit) break
    kept.push(result)
  }
  return kept
}

/** Makes fingerprints unique, also if a selector matches several elements. */
function withOwnFingerprints(results: readonly SarifResult[]): readonly SarifResult[] {
  const seen = new Map<string, number>()
  return results.map((result) => {
    const print = result.partialFingerprints['ruleAndElement/v1']
    const times = (seen.get(print) ?? 0) + 1
    seen.set(print, times)
    return times === 1 ? result : { ...result, partialFingerprints: { 'ruleAndElement/v1': digest([print, times]) } }
  })
}

function omittedNotifications(faults: readonly AuditFault[]): SarifRun['invocations'][number]['toolExecutionNotifications'] {
  return faults
    .filter(({ count, elements }) => count > elements.length && elements.length > 0)
    .map(({ rule, count, elements }) => ({
      level: 'note',
      message: message(`${rule}: ${count} elements have this fault; ${elements.length} of them are listed.`),
    }))
}

function leftOut(count: number): SarifRun['invocations'][number]['toolExecutionNotifications'] {
  return count > 0 ? [{ level: 'warning', message: message(`${count} more results are left out.`) }] : []
}

/** Creates a message whose text cannot be taken for placeholders or links. */
function message(text: string): Message {
  const safe = truncate(text, maxTextLength).replaceAll(/[{}]/g, '$&$&').replaceAll('](', '] (')
  return { text: safe === '' ? '(no text)' : safe }
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
