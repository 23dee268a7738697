import type { MarkdownRenderer, Plugin } from 'vitepress'

/** Replacements in the source of one component of VitePress's default theme. */
interface Fix {
  readonly component: string
  readonly replacements: readonly (readonly [before: string, after: string])[]
}

const fixes: readonly Fix[] = [
  // Pages without a <main> landmark.
  {
    component: 'VPHome.vue',
    replacements: [['<div \n    class="VPHome"', '<main \n    class="VPHome"'], lastTag('div', 'main')],
  },
  { component: 'NotFound.vue', replacements: [['<div class="NotFound">', '<main class="NotFound">'], lastTag('div', 'main')] },
  // A label that has the letter of the keyboard shortcut in it, which the accessible name lacks; style.css draws the letter.
  {
    component: 'VPNavBarSearchButton.vue',
    replacements: [
      ['class="DocSearch DocSearch-Button"', 'class="DocSearch DocSearch-Button" aria-keyshortcuts="Control+K Meta+K"'],
      ['<kbd class="DocSearch-Button-Key">K</kbd>', '<kbd class="DocSearch-Button-Key letter"></kbd>'],
    ],
  },
  // A button inside a button, neither of which reacts to the space bar or says whether the section is open.
  {
    component: 'VPSidebarItem.vue',
    replacements: [
      [':role="itemRole"', ''],
      [':tabindex="item.items && 0"', ''],
      ['{ click: onItemInteraction, keydown: onItemInteraction }', '{ click: onItemInteraction }'],
      [
        '<div\n        v-if="item.collapsed != null && item.items && item.items.length"',
        '<button\n        type="button"\n        :aria-expanded="!collapsed"\n        v-if="item.collapsed != null && item.items && item.items.length"',
      ],
      ['role="button"\n        aria-label="toggle section"', ':aria-label="\'Section: \' + item.text"'],
      ['@keydown.enter="onCaretClick"\n        tabindex="0"', ''],
      ['caret-icon" />\n      </div>', 'caret-icon" />\n      </button>'],
    ],
  },
  // A dialog that is announced as a button, options that contain the links instead of being the links, and labels on elements
  // that cannot have one.
  {
    component: 'VPLocalSearchBox.vue',
    replacements: [
      [
        `role="button"
      :aria-owns="results?.length ? 'localsearch-list' : undefined"
      aria-expanded="true"
      aria-haspopup="listbox"`,
        'role="dialog"\n      aria-modal="true"',
      ],
      [
        'aria-autocomplete="both"',
        'role="combobox"\n            aria-autocomplete="list"\n            :aria-expanded="results.length > 0"',
      ],
      ['type="search"\n          />', 'type="text"\n          />'],
      [
        `:id="'localsearch-item-' + index"
            :aria-selected="selectedIndex === index ? 'true' : 'false'"
            role="option"`,
        'role="none"',
      ],
      [
        '<a\n              :href="p.id"',
        `<a
              :id="'localsearch-item-' + index"
              :aria-selected="selectedIndex === index ? 'true' : 'false'"
              role="option"
              :href="p.id"`,
      ],
      [`:aria-label="[...p.titles, p.title].join(' > ')"`, ''],
      ['<span class="title-icon">', '<span class="title-icon" aria-hidden="true">'],
      ...['navigateUp', 'navigateDown', 'select'].map(
        (key) =>
          [
            `<kbd :aria-label="translate('modal.footer.${key}`,
            `<kbd role="img" :aria-label="translate('modal.footer.${key}`,
          ] as const,
      ),
      [`<kbd :aria-label="translate('modal.footer.closeKeyAriaLabel')">`, '<kbd>'],
    ],
  },
]

/**
 * Vite plugin that corrects the markup of VitePress's default theme where axe-core finds violations. The version of VitePress is
 * pinned; the build fails if a component no longer has the text that is replaced.
 */
export function accessibleTheme(): Plugin {
  return {
    name: 'accessible-theme',
    enforce: 'pre',
    transform(source, id) {
      const fix = fixes.find(({ component }) => id.includes('/theme-default/') && id.endsWith(`/${component}`))
      return fix?.replacements.reduce((text, [before, after]) => {
        if (!text.includes(before)) throw new Error(`${fix.component} has no ${JSON.stringify(before)}`)
        return text.replace(before, after)
      }, source)
    },
  }
}

/** Markdown plugin: header cells without text are not headers, and wide tables can be scrolled with the keyboard. */
export function accessibleTables(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('accessible-tables', ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'table_open') token.attrSet('tabindex', '0')
      if (token.type !== 'th_open' || tokens[at + 1]?.content !== '') continue
      for (const each of [token, tokens[at + 2]]) if (each !== undefined) each.tag = 'td'
    }
  })
}

function lastTag(before: string, after: string): readonly [string, string] {
  return [`</${before}>\n</template>`, `</${after}>\n</template>`]
}
