import { ToolError, ToolRegistry } from '@unfold-mcp/server'

export interface Note {
  readonly name: string
  readonly text: string
}

const most = 100

/** Notes, each of which is a tool that returns its text. */
export class Notes {
  readonly registry = new ToolRegistry()
  readonly #notes = new Map<string, Note>()

  /** Adds a note and returns the name of its tool. A pinned note is always shown, any other with the group core. */
  add(note: Note, pinned: boolean): string {
    const { name, text } = note
    if (this.#notes.has(name)) throw new ToolError(`Note "${name}" already exists. Remove it first, or choose another name.`)
    if (this.#notes.size >= most) throw new ToolError(`The limit of ${most} notes is reached. Remove one first.`)
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
      throw new ToolError(`Unknown note "${name}". Notes: ${[...this.#notes.keys()].join(', ') || 'none'}.`)
    this.registry.unregister(toolOf(name))
  }

  /** Returns the notes that contain every word of the query, ignoring case. */
  find(query: string): readonly Note[] {
    const words = query.toLowerCase().split(/\s+/u)
    return [...this.#notes.values()].filter(({ name, text }) =>
      words.every((word) => `${name} ${text}`.toLowerCase().includes(word)),
    )
  }
}

const toolOf = (name: string): string => `note_${name}`

const firstWords = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
