import { type Declared, declared, type Keys } from '../tool/declared.ts'
import type { GroupOptions } from './declaration.ts'
import type { GroupHooks } from './group-hooks.ts'

const groupKeys: Keys<GroupOptions> = {
  description: true,
  about: true,
  title: true,
  parent: true,
  excludes: true,
  needs: true,
  default: true,
  versions: true,
  hooks: true,
}

const hookKeys: Keys<GroupHooks> = { activate: true, deactivate: true }

export function declaredGroups(groups: { readonly [name: string]: GroupOptions }): {
  readonly [name: string]: Declared<GroupOptions>
} {
  return Object.fromEntries(
    Object.entries(groups).map(([name, group]) => {
      if (group.hooks !== undefined) declared(`the hooks of group "${name}"`, group.hooks, hookKeys)
      return [name, declared(`group "${name}"`, group, groupKeys)]
    }),
  )
}
