/** The same without members that are `undefined`. */
export type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** What was given of these options: what was not is left out. */
export function given<T extends object>(all: T): Given<T> {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Given<T>
}
