/** What does not work yet because of us: scenario, host, reason. An entry goes away with the change that makes it work. */
export const gaps: { readonly [scenario: string]: { readonly [host: string]: string } } = {}
