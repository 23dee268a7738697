/**
 * When a host lists tools again after `notifications/tools/list_changed`. `immediately`: before the next turn of the model, which
 * waits for it. `late`: after that turn. `never`: not within a conversation.
 */
export type Relists = 'never' | 'late' | 'immediately'

/** Keys of a tool's `_meta` that hosts read. */
export type HostHint = 'anthropic/alwaysLoad' | 'anthropic/searchHint'

/** Behaviour of a host, measured by the host lab (`npm run bench -- hosts`) unless `measured` is absent. */
export interface HostProfile {
  /** Value of `?host=` in a URL. */
  readonly id: string
  readonly title: string
  /** Lower-case values of `clientInfo.name`; a trailing `*` matches any suffix. */
  readonly clientNames: readonly string[]
  /** Protocol era used with a server that supports both over HTTP. */
  readonly era: 'session' | 'stateless'
  readonly relists: Relists
  /** Parts of a result that reach the model if it has both text and `structuredContent`. */
  readonly passes: 'text' | 'structured' | 'both'
  /** The host hides MCP tools behind its own tool search. `by-setting`: depends on its version or settings. */
  readonly defers: 'always' | 'by-setting' | 'never'
  readonly hints: readonly HostHint[]
  readonly limits: HostLimits
  /** JSON Schema keywords that do not reach the model. */
  readonly droppedKeywords: readonly string[]
  /** Versions measured by the lab; absent if the facts are only reported by others. */
  readonly measured?: string
}

/** Limits above which a host truncates or rejects. */
export interface HostLimits {
  /** Characters of a tool description. */
  readonly description?: number
  /** Characters of the instructions. */
  readonly instructions?: number
  /** Characters of a tool name including the prefix of the host. */
  readonly toolName?: number
  /** Tools of all servers together. */
  readonly tools?: number
}

const plain = { era: 'session', passes: 'text', defers: 'never', hints: [], limits: {}, droppedKeywords: [] } as const

const codexKeywords = [
  ...['allOf', 'not', 'const', 'pattern', 'format', 'minLength', 'minimum', 'default', 'examples', 'title'],
  ...['patternProperties', 'prefixItems', 'uniqueItems'],
]
const copilotKeywords = [
  'allOf',
  'not',
  'pattern',
  'format',
  'minLength',
  'minimum',
  'patternProperties',
  'minItems',
  'uniqueItems',
]

/** Known hosts. */
export const hostProfiles: readonly HostProfile[] = [
  {
    ...plain,
    id: 'claude-code',
    title: 'Claude Code',
    clientNames: ['claude-code*'],
    era: 'stateless',
    relists: 'immediately',
    passes: 'structured',
    defers: 'by-setting',
    hints: ['anthropic/alwaysLoad', 'anthropic/searchHint'],
    // Those of 2.1.197; 2.1.325 cuts descriptions at about 16,000 characters and instructions at about 4,000.
    limits: { description: 2_048, instructions: 2_048, toolName: 128 },
    measured: '2.1.197, 2.1.325',
  },
  {
    ...plain,
    id: 'codex',
    title: 'Codex',
    clientNames: ['codex-mcp-client*'],
    relists: 'never',
    passes: 'structured',
    limits: { toolName: 115 },
    droppedKeywords: codexKeywords,
    measured: '0.166.0',
  },
  {
    ...plain,
    id: 'gemini-cli',
    title: 'Gemini CLI',
    clientNames: ['gemini-cli-mcp-client*'],
    relists: 'late',
    limits: { toolName: 63 },
    measured: '0.61.0',
  },
  { ...plain, id: 'opencode', title: 'opencode', clientNames: ['opencode'], relists: 'late', measured: '1.18.33' },
  {
    ...plain,
    id: 'qwen-code',
    title: 'Qwen Code',
    clientNames: ['qwen-cli-mcp-client*', 'qwen-code*'],
    relists: 'never',
    passes: 'both',
    defers: 'always',
    limits: { toolName: 63 },
    measured: '0.24.4',
  },
  {
    ...plain,
    id: 'copilot-cli',
    title: 'Copilot CLI',
    clientNames: ['copilot-cli'],
    relists: 'immediately',
    passes: 'both',
    // Not seen with 43 tools; others report it above about 30 tools with some models and accounts.
    defers: 'by-setting',
    limits: { toolName: 64 },
    droppedKeywords: copilotKeywords,
    measured: '1.0.102',
  },
  { ...plain, id: 'kilo', title: 'Kilo Code', clientNames: ['kilo'], relists: 'immediately', measured: '7.7.7' },
  {
    ...plain,
    id: 'cline',
    title: 'Cline',
    clientNames: ['@cline/core', 'cline'],
    relists: 'never',
    passes: 'both',
    limits: { toolName: 64 },
    measured: '3.0.65',
  },
  { ...plain, id: 'continue', title: 'Continue', clientNames: ['continue-cli-client'], relists: 'never', measured: '1.5.47' },
  {
    ...plain,
    id: 'kimi-code',
    title: 'Kimi Code',
    clientNames: ['kimi-code'],
    relists: 'never',
    passes: 'both',
    limits: { toolName: 64 },
    measured: '2.1.0',
  },
]

const byId = new Map(hostProfiles.map((host) => [host.id, host]))

export const hostById = (id: string): HostProfile | undefined => byId.get(id)

/** Finds a profile by `clientInfo.name`. */
export function hostByClientName(name: string): HostProfile | undefined {
  const asked = name.toLowerCase()
  return hostProfiles.find(({ clientNames }) =>
    clientNames.some((known) => (known.endsWith('*') ? asked.startsWith(known.slice(0, -1)) : asked === known)),
  )
}
