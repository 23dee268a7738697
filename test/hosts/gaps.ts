/** What does not work yet because of us: scenario, host, reason. An entry goes away with the change that makes it work. */
export const gaps: { readonly [scenario: string]: { readonly [host: string]: string } } = {
  'a catalogue within the budget': { 'qwen-code': 'it defers every MCP tool and reads no hint, so it takes three turns' },
}
