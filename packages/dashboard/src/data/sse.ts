/** One server-sent event. */
export interface ServerEvent {
  readonly id: string
  readonly type: string
  readonly data: string
}

/** Reads server-sent events from chunks of text, which may end anywhere. */
export class EventParser {
  #rest = ''

  push(chunk: string): readonly ServerEvent[] {
    const blocks = (this.#rest + chunk).replaceAll('\r\n', '\n').split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.flatMap((block) => {
      const event = { id: '', type: 'message', data: [] as string[] }
      for (const line of block.split('\n')) {
        const [, field, value = ''] = /^(\w+): ?(.*)$/u.exec(line) ?? []
        if (field === 'id') event.id = value
        if (field === 'event') event.type = value
        if (field === 'data') event.data.push(value)
      }
      return event.data.length === 0 ? [] : [{ id: event.id, type: event.type, data: event.data.join('\n') }]
    })
  }
}
