import type { OwnServer } from '../server.ts'

/** Servers of a company that sells things. */
export const business: readonly OwnServer[] = [
  {
    name: 'payments',
    description: 'Payment processing: charges, refunds, subscriptions and payouts',
    tools: [
      {
        name: 'create_refund',
        description: 'Refunds a charge, in full or in part. The refund goes to the original payment method.',
        parameters: {
          charge: 'Id of the charge',
          amount: 'Amount in cents; default: the rest of the charge',
          reason: 'duplicate, fraudulent or requested',
        },
      },
      {
        name: 'create_payment_link',
        description: 'Creates a hosted checkout URL for one or more prices.',
        parameters: { price: 'Id of the price', quantity: 'Number of units' },
      },
      {
        name: 'list_charges',
        description: 'Lists charges, newest first, optionally of one customer.',
        parameters: { customer: 'Id of the customer', limit: 'Maximum number of results', starting_after: 'Cursor' },
      },
      {
        name: 'cancel_subscription',
        description: 'Cancels a subscription immediately or at the end of the billing period.',
        parameters: { subscription: 'Id of the subscription', at_period_end: 'Whether to wait for the end of the period' },
      },
      {
        name: 'update_subscription',
        description: 'Changes the plan or quantity of an existing subscription, with proration.',
        parameters: {
          subscription: 'Id of the subscription',
          price: 'New price',
          quantity: 'Number of seats',
          proration: 'How to prorate',
        },
      },
      {
        name: 'create_invoice',
        description: 'Drafts an invoice for a customer from the pending line items and optionally finalizes it.',
        parameters: { customer: 'Id of the customer', due_days: 'Days until due', finalize: 'Whether to finalize it' },
      },
      {
        name: 'create_coupon',
        description: 'Creates a coupon with a percentage or fixed discount.',
        parameters: { percent_off: 'Percentage', amount_off: 'Fixed amount in cents', duration: 'once, repeating or forever' },
      },
      {
        name: 'list_disputes',
        description: 'Lists disputes (chargebacks) and the deadline for submitting evidence.',
        parameters: { status: 'Filter by status', limit: 'Maximum number of results' },
      },
      {
        name: 'get_balance',
        description: 'Retrieves the current account balance, available and pending, per currency.',
        parameters: {},
      },
    ],
  },
  {
    name: 'shop',
    description: 'Online store: products, stock, orders and shipping',
    tools: [
      {
        name: 'search_products',
        description: 'Searches the product catalog by title, tag or vendor.',
        parameters: { query: 'Search text', first: 'Number of products' },
      },
      {
        name: 'create_product',
        description: 'Adds a product with variants, price and images to the store.',
        parameters: { title: 'Title', variants: 'Sizes or colors with prices', images: 'Image URLs' },
      },
      {
        name: 'set_inventory_level',
        description: 'Sets the available quantity of an inventory item at a location.',
        parameters: { inventory_item_id: 'Item', location_id: 'Location', available: 'New quantity' },
      },
      {
        name: 'get_order',
        description: 'Returns an order with its line items, shipping address and fulfillment status.',
        parameters: { order_id: 'Id of the order' },
      },
      {
        name: 'cancel_order',
        description: 'Cancels an unfulfilled order and restocks its items.',
        parameters: { order_id: 'Id of the order', restock: 'Whether to restock', notify: 'Whether to email the customer' },
      },
      {
        name: 'create_fulfillment',
        description: 'Marks line items of an order as shipped and stores the tracking number.',
        parameters: { order_id: 'Id of the order', tracking_number: 'Tracking number', carrier: 'Carrier' },
      },
      {
        name: 'list_abandoned_checkouts',
        description: 'Lists checkouts that were started and never completed.',
        parameters: { since: 'Only after this date', limit: 'Maximum number' },
      },
    ],
  },
  {
    name: 'helpdesk',
    description: 'Customer support tickets and macros',
    tools: [
      {
        name: 'create_ticket',
        description: 'Opens a support ticket on behalf of a requester.',
        parameters: {
          subject: 'Subject',
          body: 'First comment',
          requester_email: 'Email of the requester',
          priority: 'low, normal, high or urgent',
        },
      },
      {
        name: 'assign_ticket',
        description: 'Assigns a ticket to an agent or group.',
        parameters: { ticket_id: 'Id of the ticket', agent_id: 'Agent', group_id: 'Group' },
      },
      {
        name: 'reply_to_ticket',
        description: 'Posts a public reply to a ticket; the requester receives it by email.',
        parameters: { ticket_id: 'Id of the ticket', body: 'Reply' },
      },
      {
        name: 'merge_tickets',
        description: 'Merges duplicate tickets into a target ticket and closes the sources.',
        parameters: { source_ids: 'Tickets to close', target_id: 'Ticket to keep' },
      },
      {
        name: 'set_ticket_priority',
        description: 'Changes the priority of a ticket.',
        parameters: { ticket_id: 'Id of the ticket', priority: 'low, normal, high or urgent' },
      },
      {
        name: 'get_satisfaction_ratings',
        description: 'Returns satisfaction (CSAT) ratings and their comments for a period.',
        parameters: { start: 'Start date', end: 'End date', score: 'good or bad' },
      },
      {
        name: 'search_help_articles',
        description: 'Searches published articles of the help center.',
        parameters: { query: 'Search text', locale: 'Locale' },
      },
    ],
  },
  {
    name: 'people',
    description: 'HR: employees, leave, payroll and hiring',
    tools: [
      {
        name: 'request_time_off',
        description: 'Submits a leave request for approval by the manager.',
        parameters: { type: 'vacation, sick or unpaid', from: 'First day', to: 'Last day', note: 'Note for the manager' },
      },
      {
        name: 'get_leave_balance',
        description: 'Returns the accrued and remaining leave days of an employee.',
        parameters: { employee_id: 'Employee', year: 'Year' },
      },
      {
        name: 'get_org_chart',
        description: 'Returns the reporting lines above and below an employee.',
        parameters: { employee_id: 'Employee', depth: 'Levels' },
      },
      {
        name: 'get_payslip',
        description: 'Downloads the payslip of a pay period as PDF.',
        parameters: { employee_id: 'Employee', period: 'Month, for example 2025-04' },
      },
      {
        name: 'submit_expense',
        description: 'Submits an expense with its receipt for reimbursement.',
        parameters: { amount: 'Amount', currency: 'Currency', category: 'Category', receipt_url: 'Receipt' },
      },
      {
        name: 'terminate_employee',
        description: 'Starts offboarding: sets the termination date and revokes system access.',
        parameters: { employee_id: 'Employee', date: 'Last working day', reason: 'Reason' },
      },
      {
        name: 'list_candidates',
        description: 'Lists applicants for an open position with their interview stage.',
        parameters: { position_id: 'Position', stage: 'Stage' },
      },
    ],
  },
]
