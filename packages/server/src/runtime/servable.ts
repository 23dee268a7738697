import { Failure } from '@unfold-mcp/core'
import type { Principal } from '../tool/principal.ts'
import type { Runtime } from './runtime.ts'

/** Carries the principal type of a toolbox, for the compiler only. */
export declare const principalType: unique symbol

/** A toolbox, an adopted server, or an instance of a class with `@mcpServer`. */
export interface Servable<P extends Principal = Principal> {
  /** Every instance has it; it makes the compiler reject an object literal. */
  readonly constructor: object
  readonly [principalType]?: (principal: P | undefined) => void
}

const servables = new WeakMap<object, () => Runtime>()

/** Makes an object servable. */
export function servable(object: object, runtime: () => Runtime): void {
  servables.set(object, runtime)
}

const classes = new WeakMap<object, (instance: object) => Runtime>()

/** Makes every instance of a class servable; `make` is called once per instance, when it is first served. */
export function servableClass(ofClass: object, make: (instance: object) => Runtime): void {
  classes.set(ofClass, make)
}

function makerOf(object: object): ((instance: object) => Runtime) | undefined {
  for (let at: object | null = Object.getPrototypeOf(object); at !== null; at = Object.getPrototypeOf(at)) {
    const found = classes.get(at.constructor)
    if (found !== undefined) return found
  }
  return undefined
}

export function runtimeOf(object: object): Runtime {
  const runtime = servables.get(object)
  if (runtime !== undefined) return runtime()
  const make = makerOf(object)
  if (make !== undefined) {
    const made = make(object)
    servable(object, () => made)
    return made
  }
  throw new Failure(
    'unsupported_server',
    'This cannot be served. Pass a toolbox (defineToolbox), an adopted server (adopt), or an instance of a class with @mcpServer.',
    { problem: typeof object },
  )
}
