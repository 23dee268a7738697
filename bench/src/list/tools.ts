import { z } from 'zod'
import type { ToolCall } from './wire.ts'

/** Catalogue size of most targets. */
export const referenceSize = 1_000

/** A tool that every contender has. */
export interface SampleTool {
  readonly name: string
  readonly description: string
  readonly group: string
  readonly input: z.ZodObject
}

/** Result of every call. */
export const answerText = (path: string): string => `Done with ${path}.`

/** Returns the group names of a catalogue of this size: fifty, or one per tool. */
export function groupsOf(count: number): readonly string[] {
  return Array.from({ length: Math.min(50, count) }, (_, index) => `area_${String(index).padStart(2, '0')}`)
}

/** Returns a catalogue of this size, the same on every call. Definitions have typical length and are ASCII. */
export function toolsOf(count: number): readonly SampleTool[] {
  const groups = groupsOf(count)
  return Array.from({ length: count }, (_, index) => {
    const group = groups[index % groups.length] ?? ''
    return {
      name: `${group}_action_${index}`,
      description: `Applies action ${index} of ${group} to one item or to all items below it, and says what was done.`,
      group,
      input: z.object({
        path: z.string().describe('Where the item is, relative to the root of the area'),
        limit: z.number().int().min(1).max(100).optional().describe('The most items to change'),
        recursive: z.boolean().optional().describe('Whether to include what lies below'),
      }),
    }
  })
}

/** The measured call, of a tool from the middle of the list. */
export function callOf(count: number): ToolCall {
  const name = toolsOf(count)[count >> 1]?.name ?? ''
  return { name, arguments: { path: 'reports/2026/summary.txt', limit: 20, recursive: true } }
}
