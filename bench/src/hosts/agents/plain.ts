import type { Agent } from '../endpoint/endpoint.ts'
import type { Action, ModelRequest, OfferedTool } from '../endpoint/neutral.ts'
import { hostSearch, isHostSearch, searchHost, selectInHost } from './host-search.ts'
import { type Exchange, exchangesOf, isNamed, listedTool, readableText } from './tools.ts'

/** A tool that an agent wants to call. */
export interface Wish {
  /** Its server, which is also its group. */
  readonly server: string
  /** Its name in the gateway, without the host's prefix. */
  readonly tool: string
  readonly arguments: Record<string, unknown>
  /** Search query of the agent. */
  readonly query: string
  /** Text in the expected result. */
  readonly expect: string
}

const search = 'search_tools'
const describe = 'describe_tools'
const call = 'call_tool'
const manage = 'manage_tools'

// Names of host tools that call a tool found by the host's own search.
const hostBridge = 'tool_call'

// Name that a host writes into the history instead of an unknown tool.
const hostRefusal = 'invalid'

/**
 * A simple agent that wants one tool: it calls the tool if it is listed; otherwise it searches or activates, then calls. It knows
 * only what the host shows, tries a rejected name at most twice, and stops when nothing is left to try.
 */
export function plainAgent(wish: Wish, maxTurns = 12): Agent {
  return (request, turn) => {
    const mind = new Mind(wish, request)
    if (mind.isContent) return { kind: 'say', text: `Done: ${wish.expect}` }
    if (turn + 1 >= maxTurns) return { kind: 'say', text: 'Gave up: too many turns.' }
    return mind.next() ?? { kind: 'say', text: `Gave up: ${wish.tool} cannot be reached.` }
  }
}

/** Returns whether a call was an attempt to run the wanted tool, directly or through another tool. */
export function isAttempt({ name, arguments: args }: Pick<Exchange, 'name' | 'arguments'>, { tool }: Wish): boolean {
  if (isNamed(name, tool)) return true
  if (!isNamed(name, call) && name !== hostBridge && name !== hostRefusal) return false
  const inner = [args.name, args.tool].find((each) => typeof each === 'string') ?? ''
  return isNamed(inner, tool) || isAttempt({ name: inner, arguments: asObject(args.arguments) }, { tool } as Wish)
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** Analysis of a conversation. */
class Mind {
  readonly #wish: Wish
  readonly #request: ModelRequest
  readonly #exchanges: readonly Exchange[]
  readonly #text: string

  constructor(wish: Wish, request: ModelRequest) {
    this.#wish = wish
    this.#request = request
    this.#exchanges = exchangesOf(request)
    this.#text = readableText(request)
  }

  get isContent(): boolean {
    return this.#exchanges.some((each) => isAttempt(each, this.#wish) && each.result.text.includes(this.#wish.expect))
  }

  next(): Action | undefined {
    const { tool, server, query, arguments: args } = this.#wish
    const refusals = this.#exchanges.filter((each) => isAttempt(each, this.#wish)).length
    if (refusals > 1) return undefined
    if (this.#can(tool)) return this.#use(tool, args)
    const isKnown = this.#resultsHave(tool)
    if (isKnown && this.#can(call)) {
      if (!this.#isInformed && this.#can(describe) && !this.#used(describe)) return this.#use(describe, { names: [tool] })
      return this.#use(call, { name: tool, arguments: args })
    }
    if (this.#can(search) && !this.#used(search)) return this.#use(search, { query })
    if (this.#can(`activate_${server}`) && !this.#used(`activate_${server}`)) return this.#use(`activate_${server}`, {})
    if (this.#can(manage)) {
      const done = this.#exchanges.filter(
        ({ name, arguments: made }) => isNamed(name, manage) || isNamed(String(made.name), manage),
      )
      if (done.length === 0) return this.#use(manage, { action: 'search', query })
      if (done.length === 1 && isKnown) return this.#use(manage, { action: 'enable', tools: [tool] })
    }
    // The reply that described the tool said that it can be called by name.
    if (isKnown) return searchHost(this.#request, query) ?? this.#byName()
    return searchHost(this.#request, query)
  }

  /** Returns whether a tool can be called now, or after a query of the host's own search. */
  #can(name: string): boolean {
    return (
      listedTool(this.#request, name) !== undefined ||
      (hostSearch(this.#request) !== undefined && this.#deferred(name) !== undefined)
    )
  }

  /** Calls a tool, after the host's own search if necessary. */
  #use(name: string, args: Record<string, unknown>): Action {
    const listed = listedTool(this.#request, name)
    if (listed !== undefined) return callOf(listed, args)
    const deferred = this.#deferred(name) ?? name
    const bridge = listedTool(this.#request, hostBridge)
    if (bridge !== undefined && this.#hostHasShown(deferred)) return callOf(bridge, { name: deferred, arguments: args })
    // If a search is necessary, it includes all related tools.
    const together = [name, ...(name === this.#wish.tool ? [] : [search, describe, call])]
    const names = new Set(together.flatMap((each) => this.#deferred(each) ?? []))
    return selectInHost(this.#request, [...names]) ?? callOf({ name: deferred }, args)
  }

  #byName(): Action {
    const like = this.#request.tools.find(({ name }) =>
      [manage, `activate_${this.#wish.server}`].some((each) => isNamed(name, each)),
    )
    const prefix = like?.name.replace(/(manage_tools|activate_\w+)$/u, '') ?? ''
    return callOf({ ...like, name: `${prefix}${this.#wish.tool}` }, this.#wish.arguments)
  }

  /** Returns the host's name for a tool that is deferred or only mentioned in a text. */
  #deferred(name: string): string | undefined {
    const sent = this.#request.tools.find((tool) => tool.isDeferred === true && isNamed(tool.name, name))
    if (sent !== undefined && this.#text.includes(name)) return sent.name
    const found = this.#text.match(new RegExp(`\\bmcp_\\w*?_${name}\\b`, 'u'))
    return found?.[0]
  }

  #hostHasShown(name: string): boolean {
    return this.#exchanges.some((each) => isHostSearch(each.name) && each.result.text.includes(name))
  }

  #used(name: string): boolean {
    return this.#exchanges.some(
      (each) => isNamed(each.name, name) || (each.name === hostBridge && isNamed(String(each.arguments.name), name)),
    )
  }

  /** Returns whether a result named the tool. Replies to the agent's own failed calls do not count. */
  #resultsHave(name: string): boolean {
    return this.#exchanges.some((each) => !isAttempt(each, this.#wish) && each.result.text.includes(name))
  }

  get #isInformed(): boolean {
    return showsParameters(this.#request, this.#wish)
  }
}

/** Returns whether the model has seen the parameters of the wanted tool, in a definition or in a result. */
export function showsParameters(request: ModelRequest, { tool, arguments: args }: Wish): boolean {
  const parameters = Object.keys(args)
  const listed = listedTool(request, tool)
  const isIn = (text: string): boolean => parameters.every((name) => new RegExp(`\\b${name}\\b`, 'u').test(text))
  if (listed !== undefined && isIn(JSON.stringify(listed.parameters) ?? '')) return true
  return exchangesOf(request).some((each) => {
    if (isAttempt(each, { tool } as Wish)) return false
    const at = each.result.text.indexOf(tool)
    return at >= 0 && isIn(each.result.text.slice(at))
  })
}

function callOf({ name, namespace }: Pick<OfferedTool, 'name' | 'namespace'>, args: Record<string, unknown>): Action {
  return { kind: 'call', name, ...(namespace !== undefined && { namespace }), arguments: args }
}
