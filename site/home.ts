/** Hero and features of the home page, as VitePress's home layout expects them in the front matter. */
export const home = {
  layout: 'home',
  titleTemplate: 'One endpoint for all your MCP servers',
  hero: {
    name: 'Unfold',
    text: 'One endpoint for all your MCP servers',
    tagline: 'Clients see the tools they need now and find all others by search.',
    image: { src: '/logo.svg', alt: '' },
    actions: [
      { theme: 'brand', text: 'Set up the gateway', link: '/guides/gateway' },
      { theme: 'alt', text: 'Write a server', link: '/library' },
      { theme: 'alt', text: 'Hosts', link: '/guides/hosts' },
    ],
  },
  features: [
    {
      title: 'Short tool lists',
      details: 'Above a token budget, clients get search instead of every tool of every server, in a form that suits the host.',
      link: '/guides/choosing-an-exposure',
      linkText: 'Choosing an exposure',
    },
    {
      title: 'Live updates',
      details:
        'The gateway follows every change of every server, sends one notification per burst and restarts servers that fail.',
      link: '/guides/automatic-updates',
      linkText: 'Automatic updates',
    },
    {
      title: 'Both protocol eras',
      details: 'Clients and servers can use sessions or MCP 2026-07-28. The gateway translates and serves both on one port.',
      link: '/guides/two-eras',
      linkText: 'Two eras',
    },
    {
      title: 'A library for servers',
      details: 'Declare tools, groups and permissions once in TypeScript, and serve them over stdio and HTTP.',
      link: '/guides/getting-started',
      linkText: 'Getting started',
    },
  ],
} as const
