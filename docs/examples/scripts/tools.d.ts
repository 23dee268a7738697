declare const tools: {
  shop: {
    /** List all orders. */
    list_orders(args?: { limit?: number }): Promise<{ orders: { id: number; state: 'paid' | 'late'; cents: number }[] }>
  }
}
