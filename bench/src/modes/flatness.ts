import { Recording, Redactor } from '@unfold-mcp/browser'
import { addAction, addFrame, addLog, addRequest } from './records.ts'

/** Memory and records after a number of captured events. */
export interface Held {
  readonly events: number
  readonly heapBytes: number
  readonly records: number
  readonly evicted: number
}

/** Captures events of every kind and measures the memory after each tenth. */
export function heldOver(events: number): readonly Held[] {
  const recording = new Recording({ redactor: new Redactor() })
  const held: Held[] = []
  for (let i = 1; i <= events; i++) {
    // Mostly logs, like on real pages.
    if (i % 20 === 0) addRequest(recording, i)
    else if (i % 20 === 10) addAction(recording, i)
    else if (i % 4 === 1) addFrame(recording, i)
    else addLog(recording, i)
    if (i % (events / 10) !== 0) continue
    global.gc?.()
    const kinds = ['logs', 'network', 'sockets', 'actions'] as const
    held.push({
      events: i,
      heapBytes: process.memoryUsage().heapUsed,
      records: kinds.reduce((sum, kind) => sum + recording.of(kind).length, 0),
      evicted: kinds.reduce((sum, kind) => sum + recording.of(kind).evicted, 0),
    })
  }
  return held
}
