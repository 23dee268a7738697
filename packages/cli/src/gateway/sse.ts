export interface SseEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

// Events are log lines; a longer one is not from a gateway.
const maxEventLength = 4_000_000

export async function* sseEvents({ body }: Response): AsyncGenerator<SseEvent> {
  if (body === null) return
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true })
    const blocks = rest.split(/\r?\n\r?\n/u)
    rest = blocks.pop() ?? ''
    if (rest.length > maxEventLength) throw new RangeError('The gateway sent an event that is too long.')
    for (const block of blocks) {
      const event = eventIn(block)
      if (event.data !== '') yield event
    }
  }
}

function eventIn(block: string): SseEvent {
  const event = { id: '', event: 'message', data: '' }
  for (const line of block.split(/\r?\n/u)) {
    const [, field, value = ''] = /^(id|event|data): ?(.*)$/su.exec(line) ?? []
    if (field === 'data') event.data += event.data === '' ? value : `\n${value}`
    else if (field === 'id' || field === 'event') event[field] = value
  }
  return event
}
