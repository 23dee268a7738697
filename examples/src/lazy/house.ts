export const rooms = ['living_room', 'kitchen', 'bedroom', 'hallway'] as const
export type Room = (typeof rooms)[number]

export const doors = ['front', 'garden', 'garage'] as const
export type Door = (typeof doors)[number]

export const alarmModes = ['off', 'home', 'away'] as const
export type AlarmMode = (typeof alarmModes)[number]

interface Heating {
  /** Temperature when the target was last changed, and the time of that change. */
  readonly from: number
  readonly since: number
  readonly target: number
}

interface Speaker {
  readonly station: string | undefined
  readonly volume: number
}

export interface JournalLine {
  readonly at: string
  readonly what: string
}

// A room warms up or cools down by one degree in twenty minutes.
const degreesPerMs = 1 / (20 * 60_000)

const each = <K extends string, V>(keys: readonly K[], value: V): Map<K, V> => new Map(keys.map((key) => [key, value]))

/** State of the house. */
export class House {
  readonly #now: () => number
  readonly #lights = each<Room, number>(rooms, 0)
  readonly #heating: Map<Room, Heating>
  readonly #locked = each<Door, boolean>(doors, true)
  readonly #speakers = each<Room, Speaker>(rooms, { station: undefined, volume: 30 })
  readonly #journal: JournalLine[] = []
  #alarm: AlarmMode = 'off'

  constructor(now: () => number) {
    this.#now = now
    this.#heating = each(rooms, { from: 18, since: now(), target: 18 })
  }

  brightness(room: Room): number {
    return this.#lights.get(room) ?? 0
  }

  setBrightness(room: Room, percent: number): void {
    this.#lights.set(room, percent)
    this.#note(`The lights of the ${words(room)} are at ${percent} %.`)
  }

  climate(room: Room): { readonly room: Room; readonly celsius: number; readonly target: number } {
    const { from, since, target } = this.#heatingOf(room)
    const reach = (this.#now() - since) * degreesPerMs
    const celsius = target > from ? Math.min(target, from + reach) : Math.max(target, from - reach)
    return { room, celsius: Math.round(celsius * 10) / 10, target }
  }

  heat(room: Room, target: number): void {
    this.#heating.set(room, { from: this.climate(room).celsius, since: this.#now(), target })
    this.#note(`The ${words(room)} is to have ${target} °C.`)
  }

  isLocked(door: Door): boolean {
    return this.#locked.get(door) ?? true
  }

  lock(door: Door, locked: boolean): void {
    if (!locked && this.#alarm === 'away') {
      throw new Error(`The alarm is set to away, so the ${door} door stays locked. Set the alarm to off or home first.`)
    }
    this.#locked.set(door, locked)
    this.#note(`The ${door} door is ${locked ? 'locked' : 'unlocked'}.`)
  }

  get alarm(): AlarmMode {
    return this.#alarm
  }

  arm(mode: AlarmMode): void {
    const open = doors.filter((door) => !this.isLocked(door))
    if (mode === 'away' && open.length > 0) {
      throw new Error(`The alarm cannot be set to away while a door is unlocked: ${open.join(', ')}. Lock it first.`)
    }
    this.#alarm = mode
    this.#note(`The alarm is set to ${mode}.`)
  }

  speaker(room: Room): Speaker {
    return this.#speakers.get(room) ?? { station: undefined, volume: 0 }
  }

  play(room: Room, station: string | undefined): void {
    this.#speakers.set(room, { ...this.speaker(room), station })
    this.#note(station === undefined ? `The ${words(room)} is quiet.` : `${station} plays in the ${words(room)}.`)
  }

  setVolume(room: Room, volume: number): void {
    this.#speakers.set(room, { ...this.speaker(room), volume })
    this.#note(`The volume in the ${words(room)} is ${volume}.`)
  }

  /** Returns events, newest first. */
  journal(): readonly JournalLine[] {
    return this.#journal.toReversed()
  }

  #heatingOf(room: Room): Heating {
    return this.#heating.get(room) ?? { from: 18, since: this.#now(), target: 18 }
  }

  #note(what: string): void {
    this.#journal.push({ at: new Date(this.#now()).toISOString(), what })
  }
}

export const words = (room: Room): string => room.replaceAll('_', ' ')
