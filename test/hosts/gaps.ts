const contentLost = 'the structuredContent of our replies, which this host passes on instead of the text, has no parameters'
const late = 'the model sees the new list one request late, and the call in between is refused'
const never = 'the host does not list again, and refuses names that it has not listed'

const throughGroups = {
  'claude-code': contentLost,
  'claude-code-2.1.197': late,
  codex: never,
  'gemini-cli': late,
  opencode: late,
  'qwen-code': never,
}

/** What does not work yet because of us: scenario, host, reason. An entry goes away with the change that makes it work. */
export const gaps: { readonly [scenario: string]: { readonly [host: string]: string } } = {
  'an unlisted tool, by default': throughGroups,
  'an unlisted tool, by default over stdio': {
    'claude-code': contentLost,
    'claude-code-2.1.197': late,
    codex: never,
    opencode: late,
    'qwen-code': never,
  },
  'a catalogue within the budget': { 'claude-code': 'listed tools are deferred', 'qwen-code': 'listed tools are deferred' },
  'exposure search': { 'claude-code': contentLost, 'claude-code-2.1.197': contentLost, codex: contentLost },
  'exposure groups': throughGroups,
  'exposure lazy': throughGroups,
  'a tool added while the host runs': { 'claude-code': contentLost, codex: never, 'qwen-code': never },
}
