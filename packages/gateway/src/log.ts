/** What a gateway tells of itself: a line for people, with the same as data. */
export interface Log {
  debug(data: object, message: string): void
  info(data: object, message: string): void
  warn(data: object, message: string): void
  error(data: object, message: string): void
}

/** For where nobody wants to know. */
export const silent: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
