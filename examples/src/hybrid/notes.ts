import { ToolError, ToolRegistry } from '@unfold-mcp/server'

export interface Note {
  readonly name: string
  readonly text: string
}

const most = 100

/** Notes, each of which is a tool that answers with its text. */
export class Notes {
  readonly registry = new ToolRegistry()
  readonly #notes = new Map<string, Note>()

  /** Adds a note and returns the name of its tool. A pinned one is always shown, any other together with the group core. */
  add(note: Note, pinned: boolean): string {
    const { name, text } = note
    if (this.#notes.has(name)) throw new ToolError(`There is a note "${name}" already. Remove it first, or choose another name.`)
    if (this.#notes.size >= most) throw new ToolError(`There are ${most} notes, which is the most. Remove one first.`)
    const tool = toolOf(name)
    const definition = {
      description: `Read the note: ${firstWords(text)}`,
      annotations: { readOnlyHint: true, openWorldHint: false },
    }
    if (pinned) this.registry.register(tool, definition, () => text)
    else this.registry.registerInGroup(tool, definition, 'core', () => text)
    this.#notes.set(name, note)
    return tool
  }

  remove(name: string): void {
    if (!this.#notes.delete(name))
      throw new ToolError(`There is no note "${name}". Notes: ${[...this.#notes.keys()].join(', ') || 'none'}.`)
    this.registry.unregister(toolOf(name))
  }

  /** The notes that have every word of the query, in any case. */
  find(query: string): readonly Note[] {
    const words = query.toLowerCase().split(/\s+/u)
    return [...this.#notes.values()].filter(({ name, text }) =>
      words.every((word) => `${name} ${text}`.toLowerCase().includes(word)),
    )
  }
}

const toolOf = (name: string): string => `note_${name}`

const firstWords = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
