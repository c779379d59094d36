import { Text } from '@mantine/core';
import { decimalOf, isEqual } from '../../kit/decimal.ts';
import { Figure, Figures } from '../../kit/figures.tsx';
import { creditsText, exactText } from '../../kit/format.ts';
import { Panel } from '../../kit/page.tsx';
import { Table } from '../../kit/table.tsx';
import { Credits } from '../../kit/values.tsx';
import { useText } from '../../text.tsx';
import { Entries } from '../credits/entries.tsx';
import { type Calculation, calculationOf, type ReceiptView } from './calculation.ts';

interface ReceiptProps {
  readonly receipt: ReceiptView;
  readonly isRunning: boolean;
}

/** What was set aside, what it cost by which calculation, what came back, and what the ledger wrote. */
export function Receipt({ receipt, isRunning }: ReceiptProps) {
  const { say } = useText();
  return (
    <>
      <Figures>
        <Figure label={say('receipt.held')} value={<Credits value={receipt.held} />} hint={say('receipt.heldAbout')} />
        <Figure
          label={say('receipt.charged')}
          value={<Credits value={isRunning ? null : receipt.charged} />}
          hint={say(isRunning ? 'receipt.stillRunning' : 'receipt.chargedAbout')}
        />
        <Figure
          label={say('receipt.returned')}
          value={<Credits value={isRunning ? null : receipt.returned} />}
          hint={say('receipt.returnedAbout')}
        />
      </Figures>
      <Panel title={say('receipt.title')} flush={receipt.factors !== null}>
        {receipt.factors === null ? (
          <Text size="sm">{say(isRunning ? 'receipt.stillRunning' : 'receipt.nothingCounted')}</Text>
        ) : (
          <Lines calculation={calculationOf(receipt.factors)} charged={receipt.charged} />
        )}
      </Panel>
      <Panel title={say('receipt.ledger')} flush>
        <Entries rows={receipt.entries} />
      </Panel>
    </>
  );
}

interface Line {
  readonly key: string;
  readonly what: string;
  readonly sum: string;
  readonly credits: string;
}

/** Units × rate, times every ratio, plus what is charged once: each line from the one before. */
function Lines({ calculation, charged }: { readonly calculation: Calculation; readonly charged: number }) {
  const { say, language } = useText();
  const lines = useLines(calculation, charged);
  return (
    <Table
      label={say('receipt.title')}
      rows={lines}
      keyOf={({ key }) => key}
      columns={[
        { label: say('receipt.what'), cell: ({ what }) => what },
        { label: say('receipt.sum'), end: true, cell: ({ sum }) => <span className="num">{sum}</span> },
        {
          label: say('receipt.credits'),
          end: true,
          cell: ({ key, credits }) => (
            <Text size="sm" span className="num" fw={key === 'charged' ? 650 : 400} lang={language}>
              {credits}
            </Text>
          ),
        },
      ]}
    />
  );
}

function useLines({ units, subtotal, ratios, once, total }: Calculation, charged: number): readonly Line[] {
  const { say, language } = useText();
  const exact = (value: Parameters<typeof exactText>[0]) => exactText(value, language);
  const isRounded = !isEqual(total, decimalOf(charged));
  return [
    ...units.map(({ unit, count, per, rate, credits }) => ({
      key: unit,
      what: say(`receipt.unit.${unit}`),
      sum: `${exact(count)}${per === 1 ? '' : ` ÷ ${exact(decimalOf(per))}`} × ${exact(rate)}`,
      credits: exact(credits),
    })),
    ...(units.length > 1
      ? [{ key: 'subtotal', what: say('receipt.subtotal'), sum: '=', credits: exact(subtotal) }]
      : []),
    ...ratios.map(({ map, choice, ratio, credits }) => ({
      key: `${map}:${choice}`,
      what: `${say(`receipt.ratio.${map}`)}: ${choice}`,
      sum: `× ${exact(ratio)}`,
      credits: exact(credits),
    })),
    ...(once === undefined
      ? []
      : [{ key: 'once', what: say('receipt.once'), sum: `+ ${exact(once)}`, credits: exact(total) }]),
    {
      key: 'charged',
      what: say('receipt.charged'),
      sum: isRounded ? say('receipt.rounded') : '=',
      credits: creditsText(charged, language),
    },
  ];
}
