/** What a server says of its prompts and resources: the list changed, or one resource did. */
export type DocumentNotice =
  | { readonly kind: 'prompts' }
  | { readonly kind: 'resources' }
  | { readonly kind: 'resource'; readonly uri: string }
