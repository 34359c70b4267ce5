import { known } from '../../app/search.ts';

export const readBooksFilter = known('operator', 'currency', 'from', 'to');

/** As in the page's address; days as `2026-11-20`, both included. */
export type BooksFilter = ReturnType<typeof readBooksFilter>;
