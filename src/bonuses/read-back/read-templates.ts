import { jsonString } from '../../protocol/json.ts';
import { totalPages } from '../paging.ts';
import { entriesOf, idOf, memberOf, treeText } from '../translation/json-tree.ts';
import { leaseMs, RETRY_MS, type ReadingBack, readableCids, readPage } from './reader.ts';
import { settleCreates } from './settle-creates.ts';

/** How old the kept copies of templates become before they are read again. */
const COPIES_EVERY_MS = 5 * 60_000;
/** After five minutes of tries the walk restarts: the list may have become shorter since its first page. */
const TRIES_MAX = 150;

/**
 * Reads one page of an account's templates, if one is due; after the last page it settles the open creates.
 * @returns whether there was something to do
 */
export async function readTemplates(reading: ReadingBack): Promise<boolean> {
  const { walks, accounts, ownership, triedInVain } = reading;
  const claimed = await walks.claim(
    {
      cids: readableCids(reading),
      kept: accounts.kept().map(({ cid }) => cid),
      shared: accounts.sharing(),
    },
    { everyMs: COPIES_EVERY_MS, leaseMs: leaseMs(reading) },
  );
  if (claimed === undefined) return false;
  const { upstreamCid, page } = claimed;
  const account = accounts.byCid(upstreamCid);
  if (account === undefined) return false;

  const body = `{"cid":${jsonString(upstreamCid)},"page":${page}}`;
  const read = await readPage(reading, account, 'templates', body);
  if (read.kind !== 'read') {
    const tries = (triedInVain.get(upstreamCid) ?? 0) + 1;
    const beginsAnew = read.kind === 'refused' || tries >= TRIES_MAX;
    triedInVain.set(upstreamCid, beginsAnew ? 0 : tries);
    await walks.postpone(claimed, beginsAnew ? 1 : page, RETRY_MS);
    return true;
  }
  triedInVain.delete(upstreamCid);
  const { answer } = read;
  const items = entriesOf(memberOf(answer, 'items'));
  const copies = items.flatMap((item) => {
    const templateId = idOf(item, 'id');
    return templateId === undefined ? [] : [{ templateId, item: treeText(item) }];
  });
  await ownership.keepCopies(upstreamCid, copies);
  if (items.length > 0 && page < totalPages(answer)) {
    await walks.advance(claimed, page + 1);
    return true;
  }
  // Before the walk ends: after a crash in between, the last page is repeated, and the settling with it.
  await settleCreates(reading, account, claimed);
  await walks.complete(claimed);
  return true;
}
