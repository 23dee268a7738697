import { searchingAgent } from './agents/chain.ts'
import type { Wish } from './agents/plain.ts'
import { exchangesOf, isNamed, readableText } from './agents/tools.ts'
import type { Driver } from './drivers/driver.ts'
import type { ModelRequest, OfferedTool } from './endpoint/neutral.ts'
import { prompt } from './lab.ts'
import { Probe } from './probe/probe.ts'
import { grownTool, hintWords, keywords, marks, nameLengths, nameOf, rulerLength, shownOf } from './probe/tools.ts'
import { type HostRun, runHost } from './run.ts'

/** Observed behaviour of a host. */
export interface Facts {
  readonly clientInfo: { readonly name: string; readonly version: string } | undefined
  /** The first request of the host and its revision. */
  readonly firstRequest: string
  readonly revision: string
  readonly capabilities: readonly string[]
  /** The parts that the model receives of a result with text and structured content. */
  readonly passes: 'text' | 'structured' | 'both' | 'neither'
  /** True if the first request lacks the definitions of ordinary tools. */
  readonly defers: boolean
  /** True if the host uses the hint; `undefined` if it lists everything anyway. */
  readonly readsAlwaysLoad: boolean | undefined
  readonly readsSearchHint: boolean | undefined
  /**
   * When the model sees a new tool, if the reply to the call that added it waits until the host has re-listed: in the next
   * request, later, or never.
   */
  readonly relists: 'immediately' | 'late' | 'never'
  /** Characters of a description and of the instructions that reach the model; `undefined` if not truncated. */
  readonly descriptionLimit: number | undefined
  readonly instructionsLimit: number | undefined
  /** The host's names for tools with names of this length; a missing entry means that the tool was dropped. */
  readonly names: { readonly [length: number]: string | undefined }
  /** Schema keywords that do not reach the model. */
  readonly droppedKeywords: readonly string[]
}

const wish = (tool: string, expect = `${tool}: done`): Wish => ({ server: 'probe', tool, arguments: {}, query: tool, expect })

/** Connects a host to the probe and observes its behaviour. */
export async function factsOf(driver: Driver): Promise<Facts> {
  await using probe = await Probe.open()
  const wanted = [
    wish('both', 'only-in-the'),
    wish('grow'),
    wish('eager'),
    wish('verbose'),
    wish('schematic'),
    ...nameLengths.map((length) => wish(nameOf(length))),
  ]
  const run = await runHost(driver, {
    gateway: probe,
    agent: searchingAgent(wanted, hintWords),
    prompt,
    // Keeps the host's own deferral of tools.
    connectArgs: ['--exposure', 'native'],
    // `unfold connect` tests the connection, too.
    beforeStart: () => probe.forget(),
  })
  const requests = run.turns.map(({ request }) => request)
  // The first request with the server's tools: a host may call the model before it is connected.
  const first = requests.find((request) => nameIn([request], 'schematic') !== undefined)
  if (first === undefined) throw new Error(`${driver.id} did not show the probe's tools: ${run.ended.errors.slice(-500)}`)
  const shown = first.tools.filter(({ isDeferred }) => isDeferred !== true)
  const defers = shown.every(({ name }) => !isNamed(name, 'both'))
  return {
    ...clientOf(probe),
    passes: passed(requests),
    defers,
    readsAlwaysLoad: defers ? shown.some(({ name }) => isNamed(name, 'eager')) : undefined,
    readsSearchHint: defers ? isHintFound(run) : undefined,
    relists: relisted(run),
    descriptionLimit: limitOf(definitionText(requests, 'verbose')),
    instructionsLimit: limitOf(instructionsIn(first)),
    names: Object.fromEntries(nameLengths.map((length) => [length, nameIn(requests, nameOf(length).slice(0, 10))])),
    droppedKeywords: droppedIn(definitionText(requests, 'schematic')),
  }
}

function clientOf(probe: Probe): Pick<Facts, 'clientInfo' | 'firstRequest' | 'revision' | 'capabilities'> {
  // Excludes the test requests of `unfold connect`.
  const messages = probe.messages.filter(
    ({ params }) => (params?._meta?.['io.modelcontextprotocol/clientInfo'] as Facts['clientInfo'])?.name !== 'unfold',
  )
  const [first] = messages
  const meta = (key: string): unknown =>
    messages.find(({ params }) => params?._meta?.[`io.modelcontextprotocol/${key}`])?.params?._meta?.[
      `io.modelcontextprotocol/${key}`
    ]
  const initialize = messages.find(({ method }) => method === 'initialize')?.params
  return {
    clientInfo: initialize?.clientInfo ?? (meta('clientInfo') as Facts['clientInfo']),
    firstRequest: first?.method ?? 'none',
    revision: (meta('protocolVersion') as string | undefined) ?? initialize?.protocolVersion ?? 'unknown',
    capabilities: Object.keys(initialize?.capabilities ?? (meta('clientCapabilities') as object | undefined) ?? {}),
  }
}

function passed(requests: readonly ModelRequest[]): Facts['passes'] {
  const text = requests.map(readableText).join('\n')
  const [isText, isStructured] = [text.includes(marks.text), text.includes(marks.structured)]
  if (isText && isStructured) return 'both'
  if (!isText && !isStructured) return 'neither'
  return isText ? 'text' : 'structured'
}

function relisted({ turns }: HostRun): Facts['relists'] {
  const made = turns.findIndex(
    ({ action }) => action.kind === 'call' && (isNamed(action.name, 'grow') || isNamed(String(action.arguments.name), 'grow')),
  )
  if (made < 0) throw new Error('The probe did not add its tool')
  const seen = turns.findIndex(({ request }) => nameIn([request], grownTool.name) !== undefined)
  if (seen < 0) return 'never'
  return seen === made + 1 ? 'immediately' : 'late'
}

/** Returns the host's name for a tool, from a definition or a text. */
function nameIn(requests: readonly ModelRequest[], part: string): string | undefined {
  const pattern = new RegExp(`[\\w.]*${part}[\\w.]*`, 'u')
  return (
    definitionOf(requests, part)?.name ??
    requests.map((request) => pattern.exec(readableText(request))?.[0]).find((name) => name !== undefined)
  )
}

function isHintFound({ turns }: HostRun): boolean {
  const last = turns.at(-1)?.request
  return (
    last !== undefined &&
    exchangesOf(last).some(
      (each) => Object.values(each.arguments).includes(hintWords) && /\bhinted\b|_hinted\b/u.test(each.result.text),
    )
  )
}

/** Returns a definition as the model saw it, from the list or from the host's own search. */
function definitionOf(requests: readonly ModelRequest[], name: string): OfferedTool | undefined {
  const isIt = ({ name: offered }: OfferedTool): boolean => offered.includes(name)
  const listed = requests.flatMap(({ tools }) => tools).find(isIt)
  return listed ?? requests.flatMap(found).find(isIt)
}

/** Parses definitions in results of a host's own search: one JSON object in each `<function>` element. */
function found(request: ModelRequest): readonly OfferedTool[] {
  return exchangesOf(request).flatMap(({ result }) =>
    [...result.text.matchAll(/<function>(\{.*?\})<\/function>/gsu)].flatMap(([, json = '']) => {
      try {
        const { name, description, parameters, parametersJsonSchema } = JSON.parse(json) as OfferedTool & {
          parametersJsonSchema?: unknown
        }
        return [{ name, description, parameters: parameters ?? parametersJsonSchema }]
      } catch {
        return []
      }
    }),
  )
}

function definitionText(requests: readonly ModelRequest[], name: string): string {
  return JSON.stringify(definitionOf(requests, name) ?? {})
}

function instructionsIn(request: ModelRequest): string {
  const text = readableText(request)
  const at = text.indexOf('probe-instructions')
  return at < 0 ? '' : text.slice(at, at + rulerLength + 100)
}

function limitOf(text: string): number | undefined {
  const shown = shownOf(text)
  return shown === rulerLength ? undefined : shown
}

function droppedIn(definition: string): readonly string[] {
  const { parameters } = JSON.parse(definition) as { parameters?: { properties?: Record<string, Record<string, unknown>> } }
  const dropped = Object.entries(keywords).flatMap(([keyword, schema]) => {
    const seen = parameters?.properties?.[`p_${keyword.replace('$', '')}`]
    const isThere =
      seen !== undefined && JSON.stringify(seen[keyword]) === JSON.stringify((schema as Record<string, unknown>)[keyword])
    return isThere ? [] : [keyword]
  })
  return definition.includes('shared-definition') ? dropped : [...dropped, '$defs']
}
