import { describe, expect, it } from 'vitest';
import {
  countText,
  type OperatorRow,
  troublesOf,
  worstFirst,
} from '../../src/console/pages/now/severity.ts';

describe('worst first', () => {
  const row = (id: string, fields: Partial<OperatorRow> = {}): OperatorRow => ({
    id,
    name: id,
    status: 'active',
    currencies: ['USD'],
    sessions: { mode: 'issued' },
    breaker: { read: 'closed', money: 'closed' },
    override: { read: 'auto', money: 'auto' },
    inFlight: { read: 0, money: 0 },
    openDeliveries: 0,
    heldDeliveries: 0,
    oldestDelivery: null,
    deadDeliveries: 0,
    unresolvedBets: 0,
    countsAtLeast: [],
    recently: null,
    hold: null,
    releasedTo: null,
    ...fields,
  });

  it('puts money at risk before waiting deliveries, and these before healthy operators', () => {
    const rows = [
      row('well'),
      row('a-well'),
      row('waits', { openDeliveries: 900 }),
      row('resting', { status: 'maintenance' }),
      row('dead', { deadDeliveries: 1 }),
      row('worst', { deadDeliveries: 1, breaker: { read: 'closed', money: 'open' } }),
    ];
    expect(worstFirst(rows).map(({ id }) => id)).toEqual([
      'worst',
      'dead',
      'resting',
      'waits',
      'a-well',
      'well',
    ]);
  });

  it('says at least of what is still being counted, and of nothing else (I7)', () => {
    const counts = { openDeliveries: 500_000, deadDeliveries: 2 };
    const counting = row('a', { ...counts, countsAtLeast: ['openDeliveries'] });
    expect(troublesOf(counting)).toEqual([
      { tone: 'bad', text: '2 dead' },
      { tone: 'info', text: 'at least 500000 waiting' },
    ]);
  });

  it('says of an operator whose bets were released to another wallet that none is sent', () => {
    const behind = row('a', { releasedTo: 2 });
    expect(troublesOf(behind)).toEqual([
      { tone: 'bad', text: 'bets are not sent: released to generation 2' },
    ]);
  });

  it('does not take unknown counts for healthy', () => {
    const unknown = row('a', { openDeliveries: null, deadDeliveries: null, unresolvedBets: null });
    expect(troublesOf(unknown)).toEqual([{ tone: 'warn', text: 'counts and holds are not known' }]);
  });

  it('does not say that none are dead while nobody knows how many', () => {
    const known = row('a', { deadDeliveries: 1_200, unresolvedBets: 0 });
    expect(countText([known, row('b')], 'deadDeliveries')).toBe('1,200');
    expect(countText([known, row('b')], 'unresolvedBets')).toBe('0');
    const counting = row('b', { deadDeliveries: 5, countsAtLeast: ['deadDeliveries'] });
    expect(countText([known, counting], 'deadDeliveries')).toBe('1,205+');
    expect(countText([known, row('b', { deadDeliveries: null })], 'deadDeliveries')).toBe('?');
    expect(countText([], 'deadDeliveries')).toBe('0');
  });

  it('says how long something has waited, what was answered late, and how much is unknown', () => {
    const at = (minutes: number) => new Date(NOW_MS - minutes * 60_000).toISOString();
    const NOW_MS = Date.UTC(2026, 10, 22);
    const counted = { seconds: 300, callbacks: 200, walletCalls: 200, walletFailures: 0 };
    const told = (fields: Partial<OperatorRow>) => troublesOf(row('a', fields), NOW_MS);
    expect(told({ oldestDelivery: at(14) })).toEqual([]);
    expect(told({ oldestDelivery: at(90) })).toEqual([
      { tone: 'warn', text: 'oldest waits 1 h 30 min' },
    ]);
    expect(told({ recently: { ...counted, unknown: 0, late: 3 } })).toEqual([
      { tone: 'bad', text: '3 answered late' },
    ]);
    expect(told({ recently: { ...counted, unknown: 1, late: 0 } })).toEqual([
      { tone: 'warn', text: '< 1 % unknown' },
    ]);
    expect(told({ recently: { ...counted, unknown: 24, late: 0 } })).toEqual([
      { tone: 'bad', text: '12 % unknown' },
    ]);
    expect(told({ recently: { ...counted, unknown: 199, late: 0 } })).toEqual([
      { tone: 'bad', text: '> 99 % unknown' },
    ]);
    expect(told({ recently: { ...counted, unknown: 200, late: 0 } })).toEqual([
      { tone: 'bad', text: '100 % unknown' },
    ]);
  });
});
