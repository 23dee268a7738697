import type { Toolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import type { Shelf } from './shelves.ts'

const notes = ['C', 'C#', 'D', 'D#', 'E', 'F', 'F#', 'G', 'G#', 'A', 'A#', 'B'] as const

const chords = {
  major: [0, 4, 7],
  minor: [0, 3, 7],
  diminished: [0, 3, 6],
  augmented: [0, 4, 8],
  suspended_second: [0, 2, 7],
  suspended_fourth: [0, 5, 7],
  major_sixth: [0, 4, 7, 9],
  minor_sixth: [0, 3, 7, 9],
  dominant_seventh: [0, 4, 7, 10],
  major_seventh: [0, 4, 7, 11],
  minor_seventh: [0, 3, 7, 10],
  diminished_seventh: [0, 3, 6, 9],
  half_diminished_seventh: [0, 3, 6, 10],
  added_ninth: [0, 4, 7, 14],
} as const

const scales = {
  major: [0, 2, 4, 5, 7, 9, 11],
  natural_minor: [0, 2, 3, 5, 7, 8, 10],
  harmonic_minor: [0, 2, 3, 5, 7, 8, 11],
  melodic_minor: [0, 2, 3, 5, 7, 9, 11],
  dorian: [0, 2, 3, 5, 7, 9, 10],
  phrygian: [0, 1, 3, 5, 7, 8, 10],
  lydian: [0, 2, 4, 6, 7, 9, 11],
  mixolydian: [0, 2, 4, 5, 7, 9, 10],
  locrian: [0, 1, 3, 5, 6, 8, 10],
  major_pentatonic: [0, 2, 4, 7, 9],
  minor_pentatonic: [0, 3, 5, 7, 10],
  blues: [0, 3, 5, 6, 7, 10],
  whole_tone: [0, 2, 4, 6, 8, 10],
} as const

const intervals = [
  'unison',
  'minor second',
  'major second',
  'minor third',
  'major third',
  'perfect fourth',
  'tritone',
  'perfect fifth',
  'minor sixth',
  'major sixth',
  'minor seventh',
  'major seventh',
  'octave',
]

const anyNote = z
  .string()
  .regex(/^[A-G](?:#|b)?$/u)
  .describe('A note such as C, F# or Bb')
const pitch = z
  .string()
  .regex(/^[A-G](?:#|b)?\d$/u)
  .describe('A note with its octave, such as A4')

const flats: { readonly [note: string]: string } = {
  Db: 'C#',
  Eb: 'D#',
  Gb: 'F#',
  Ab: 'G#',
  Bb: 'A#',
  Cb: 'B',
  Fb: 'E',
  'E#': 'F',
  'B#': 'C',
}
const placeOf = (name: string): number => notes.findIndex((each) => each === (flats[name] ?? name))
const noteAt = (place: number): string => notes[((place % 12) + 12) % 12] ?? ''
const midiOf = (name: string): number => {
  const wraps = name.startsWith('Cb') ? -12 : name.startsWith('B#') ? 12 : 0
  return placeOf(name.slice(0, -1)) + (Number(name.at(-1)) + 1) * 12 + wraps
}

export function addMusic(workshop: Toolbox<Shelf>): void {
  const shelf = { group: 'music', readOnly: true } as const
  const rooted = z.object({ root: anyNote })
  const kinds = { chord: chords, scale: scales }
  for (const [kind, all] of Object.entries(kinds)) {
    for (const [name, steps] of Object.entries(all)) {
      const description = `The notes of a ${name.replaceAll('_', ' ')} ${kind}.`
      workshop.tool(`${name}_${kind}`, { ...shelf, description, inputSchema: rooted }, ({ root }) => ({
        notes: (steps as readonly number[]).map((step) => noteAt(placeOf(root) + step)),
      }))
    }
  }
  workshop.tool(
    'note_frequency',
    { ...shelf, description: 'The frequency of a note in hertz, tuned to A4 = 440.', inputSchema: z.object({ note: pitch }) },
    ({ note }) => ({
      hertz: Math.round(440 * 2 ** ((midiOf(note) - 69) / 12) * 100) / 100,
    }),
  )
  workshop.tool(
    'midi_number',
    { ...shelf, description: 'The MIDI number of a note.', inputSchema: z.object({ note: pitch }) },
    ({ note }) => ({ midi: midiOf(note) }),
  )
  workshop.tool(
    'nearest_note',
    {
      ...shelf,
      description: 'The note nearest to a frequency, and how many cents it is off.',
      inputSchema: z.object({ hertz: z.number().min(16).max(20_000) }),
    },
    ({ hertz }) => {
      const exact = 69 + 12 * Math.log2(hertz / 440)
      const midi = Math.round(exact)
      return { note: `${noteAt(midi)}${Math.floor(midi / 12) - 1}`, cents: Math.round((exact - midi) * 100) }
    },
  )
  workshop.tool(
    'transpose_note',
    {
      ...shelf,
      description: 'A note moved up or down by semitones.',
      inputSchema: z.object({ note: anyNote, semitones: z.int().min(-120).max(120) }),
    },
    ({ note, semitones }) => noteAt(placeOf(note) + semitones),
  )
  workshop.tool(
    'interval_between_notes',
    { ...shelf, description: 'The interval from one note up to another.', inputSchema: z.object({ from: anyNote, to: anyNote }) },
    ({ from, to }) => {
      const semitones = (placeOf(to) - placeOf(from) + 12) % 12
      return { interval: intervals[semitones], semitones }
    },
  )
  workshop.tool(
    'beat_length',
    { ...shelf, description: 'How long a beat lasts at a tempo.', inputSchema: z.object({ bpm: z.number().min(1).max(1_000) }) },
    ({ bpm }) => ({ milliseconds: Math.round(60_000_000 / bpm) / 1_000 }),
  )
}
