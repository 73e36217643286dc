# SPDX-License-Identifier: Apache-2.0
"""All programs, in the order of the table."""
from gallery import builds, databases, hurting, languages, parallel, servers


def programs():
    return [*servers.PROGRAMS, *databases.PROGRAMS, *languages.PROGRAMS, *builds.PROGRAMS, *parallel.PROGRAMS,
            *hurting.PROGRAMS]
