import { known } from '../../app/search.ts';

/** As in the page's address; days as `2026-11-20`, both included. */
export interface BooksFilter {
  readonly operator?: string | undefined;
  readonly currency?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export const readBooksFilter = known('operator', 'currency', 'from', 'to');
