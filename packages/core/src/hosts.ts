/**
 * When a host reads the tool list again after `notifications/tools/list_changed`. `immediately`: before the model's next turn,
 * when the reply to the call that changed the list waits for it. `late`: only after that turn. `never`: not within a conversation.
 */
export type Relists = 'never' | 'late' | 'immediately'

/** Members of a tool's `_meta` that hosts read. */
export type HostHint = 'anthropic/alwaysLoad' | 'anthropic/searchHint'

/** How a host treats the tools of an MCP server, as measured by the host lab (`npm run bench -- hosts`) unless `measured` is absent. */
export interface HostProfile {
  /** The value of `?host=` in an address. */
  readonly id: string
  readonly title: string
  /** Values of `clientInfo.name`, in lower case; one that ends in `*` matches every name that begins with it. */
  readonly clientNames: readonly string[]
  /** The protocol era that it speaks to a server that offers both over HTTP. */
  readonly era: 'session' | 'stateless'
  readonly relists: Relists
  /** Which part of a result reaches the model when it has both text and `structuredContent`. */
  readonly passes: 'text' | 'structured'
  /** Whether the host hides MCP tools behind a tool search of its own. `by-setting`: depends on its version or settings. */
  readonly defers: 'always' | 'by-setting' | 'never'
  readonly hints: readonly HostHint[]
  readonly limits: HostLimits
  /** JSON Schema keywords that do not reach the model. */
  readonly droppedKeywords: readonly string[]
  /** The versions that the lab measured; absent where the facts are only reported by others. */
  readonly measured?: string
}

/** Where a host cuts off or refuses what a server sends. */
export interface HostLimits {
  /** Characters of a tool description. */
  readonly description?: number
  /** Characters of the instructions. */
  readonly instructions?: number
  /** Characters of a tool name, with the prefix that the host adds. */
  readonly toolName?: number
  /** Tools of all servers together. */
  readonly tools?: number
}

const text = { era: 'session', passes: 'text', hints: [], limits: {}, droppedKeywords: [] } as const

/** Every host that is known, by id. */
export const hostProfiles: readonly HostProfile[] = [
  {
    ...text,
    id: 'claude-code',
    title: 'Claude Code',
    clientNames: ['claude-code', 'claude-code*'],
    era: 'stateless',
    relists: 'immediately',
    passes: 'structured',
    defers: 'by-setting',
    hints: ['anthropic/alwaysLoad', 'anthropic/searchHint'],
    limits: { description: 2_048, instructions: 2_048, toolName: 64 },
    measured: '2.1.197, 2.1.325',
  },
  {
    ...text,
    id: 'codex',
    title: 'Codex',
    clientNames: ['codex-mcp-client', 'codex*'],
    relists: 'never',
    passes: 'structured',
    defers: 'never',
    measured: '0.166.0',
  },
  {
    ...text,
    id: 'gemini-cli',
    title: 'Gemini CLI',
    clientNames: ['gemini-cli*'],
    relists: 'late',
    defers: 'never',
    measured: '0.61.0',
  },
  {
    ...text,
    id: 'opencode',
    title: 'opencode',
    clientNames: ['opencode'],
    relists: 'never',
    defers: 'never',
    measured: '1.18.33',
  },
  {
    ...text,
    id: 'qwen-code',
    title: 'Qwen Code',
    clientNames: ['qwen-cli*', 'qwen-code*'],
    relists: 'late',
    defers: 'always',
    measured: '0.24.4',
  },
]

const byId = new Map(hostProfiles.map((host) => [host.id, host]))

/** The profile with this id. */
export const hostById = (id: string): HostProfile | undefined => byId.get(id)

/** The profile of a client that calls itself by this `clientInfo.name`. */
export function hostByClientName(name: string): HostProfile | undefined {
  const asked = name.toLowerCase()
  return hostProfiles.find(({ clientNames }) =>
    clientNames.some((known) => (known.endsWith('*') ? asked.startsWith(known.slice(0, -1)) : asked === known)),
  )
}
