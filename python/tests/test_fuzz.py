# SPDX-License-Identifier: MIT
import fuzz


def test_misuse_raises_and_goes_on():
    answered, raised = fuzz.main(seconds=3.0)
    assert answered > 50 and raised > 50
