import {
  idOf,
  type Json,
  type JsonMember,
  memberOf,
  textOf,
  treeText,
} from './translation/json-tree.ts';
import type { Terms, TranslatedPlace } from './translation/terms.ts';
import { translate, translateList } from './translation/translate.ts';

/** What the service's samples show; the interface states no size of a page. */
export const ITEMS_PER_PAGE = 100;

/** A page of ours (service protocol, MetaDataItem). @param items JSON text of the list */
export function pageText(
  items: string,
  { totalItems, page }: { readonly totalItems: number; readonly page: number },
): string {
  const metadata = JSON.stringify({
    totalPages: Math.ceil(totalItems / ITEMS_PER_PAGE),
    totalItems,
    currentPage: page,
    itemsPerPage: ITEMS_PER_PAGE,
  });
  return `{"items":${items},"metadata":${metadata}}`;
}

/** Members that may hold a thousand entries. */
const LISTS: ReadonlySet<string> = new Set(['items', 'errorItems']);

/** A list or batch of the service's in the operator's terms: `items` as such, all else strictly. */
export async function translatedPage(
  answer: Json,
  terms: Terms,
  items: TranslatedPlace = 'item',
): Promise<string> {
  if (answer.kind !== 'object') return '{}';
  const members: JsonMember[] = [];
  for (const member of answer.members) {
    const { name, value } = member;
    if (LISTS.has(name)) {
      const list = await translateList(value, terms, name === 'items' ? items : 'error');
      if (list !== undefined) members.push({ name, value: list });
      continue;
    }
    const translated = translate({ kind: 'object', members: [member] }, terms, 'error');
    if (translated?.kind === 'object') members.push(...translated.members);
  }
  return treeText({ kind: 'object', members });
}

/** Nothing has so many; a service that counts pages without end must not be followed. */
const PAGES_MAX = 10_000;

/** How many pages the service says there are, at most 10,000; 1 where it does not say. */
export function totalPages(answer: Json): number {
  const metadata = memberOf(answer, 'metadata');
  const text = textOf(metadata, 'totalPages') ?? '';
  const said = idOf(metadata, 'totalPages') ?? (/^\d+$/.test(text) ? text : '1');
  return Math.min(PAGES_MAX, Math.max(1, Number(said)));
}
