/** TypeScript type of a literal JSON Schema, for common keywords; `unknown` for the rest. */
export type FromJsonSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer B)[] }
      ? FromJsonSchema<B>
      : S extends { readonly oneOf: readonly (infer B)[] }
        ? FromJsonSchema<B>
        : S extends { readonly type: infer T }
          ? FromType<T, S>
          : unknown

type FromType<T, S> = T extends 'string'
  ? string
  : T extends 'number' | 'integer'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? S extends { readonly items: infer I }
            ? FromJsonSchema<I>[]
            : unknown[]
          : T extends 'object'
            ? FromObject<S>
            : T extends readonly (infer U)[]
              ? FromType<U, S>
              : unknown

type FromObject<S> = S extends { readonly properties: infer P }
  ? Flatten<
      { [K in keyof P as K extends Required<S> ? K : never]: FromJsonSchema<P[K]> } & {
        [K in keyof P as K extends Required<S> ? never : K]?: FromJsonSchema<P[K]>
      }
    >
  : Record<string, unknown>

type Required<S> = S extends { readonly required: readonly (infer R)[] } ? R : never

type Flatten<T> = { -readonly [K in keyof T]: T[K] }
