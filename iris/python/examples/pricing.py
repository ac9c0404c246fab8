"""A pricing service whose rules are replaced while it runs: every quote is answered by exactly the version that was current when it was
asked, state moves along with `code_change`, and a bad version is rolled back. Run it: python pricing.py.
"""

import iris


class Pricing:
    """Version 1: list price."""

    def __init__(self) -> None:
        self.quotes = 0

    def receive(self, amount: float) -> tuple[float, str, int]:
        self.quotes += 1
        return self.price(amount), type(self).__name__, self.quotes

    def price(self, amount: float) -> float:
        return amount

    def code_change(self, old: "Pricing") -> None:
        self.quotes = old.quotes


class WithTax(Pricing):
    """Version 2: tax is added."""

    def price(self, amount: float) -> float:
        return round(amount * 1.2, 2)


class Broken(Pricing):
    """Version 3: a typing error makes everything free."""

    def price(self, amount: float) -> float:
        return 0


def main() -> None:
    with iris.System() as system:
        service = system.spawn(Pricing, name="pricing")
        print(service.ask_sync(100, timeout=5))
        print("swapped to version", system.hot_swap(service, WithTax))
        print(service.ask_sync(100, timeout=5))
        system.hot_swap(service, Broken)
        bad = service.ask_sync(100, timeout=5)
        print(bad, "- that is wrong, back to version", service.rollback())
        price, version, quotes = service.ask_sync(100, timeout=5)
        print((price, version, quotes))
        assert (price, version, quotes) == (120.0, "WithTax", 4), "the count of quotes went through all versions"


if __name__ == "__main__":
    main()
