import { ToolError } from '@unfold-mcp/server'
/** The managed system. */
export interface Settings {
  all(): { readonly [name: string]: string }
  set(name: string, value: string): void
  reset(): void
}

const defaults = { theme: 'light', language: 'en', retention_days: '30' } as const

export function settingsInMemory(): Settings {
  const values = new Map<string, string>(Object.entries(defaults))
  return {
    all: () => Object.fromEntries(values),
    set(name, value) {
      if (!values.has(name)) throw new ToolError(`Unknown setting "${name}". Settings: ${[...values.keys()].join(', ')}.`)
      values.set(name, value)
    },
    reset() {
      for (const [name, value] of Object.entries(defaults)) values.set(name, value)
    },
  }
}
